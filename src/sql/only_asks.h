// OnlyAsks: what keeps a query from doing anything but asking. SQL can open and write files
// (ATTACH, VACUUM INTO), load code and change settings, and a query may come from a file or a web
// page. So a connection answers SELECT (with its CTEs, EXPLAIN and the PRAGMAs that describe
// tables), and refuses everything else, temporary tables and views included; statements, cells and
// the memory of a query have limits.
//
//   … make the tables and views …
//   OnlyAsks only_asks(library, connection);   // from now on
//   if (prepare fails) only_asks.take_refused()  // "ATTACH"
#pragma once

#include <cstdint>
#include <string>

#include "sql/sqlite_library.h"

namespace sonde::sql {

class OnlyAsks {
 public:
  /// `memory_bytes`: for all that SQLite keeps, in this process.
  OnlyAsks(const SqliteLibrary& library, sqlite3* connection, int64_t memory_bytes);
  OnlyAsks(const OnlyAsks&) = delete;
  OnlyAsks& operator=(const OnlyAsks&) = delete;
  ~OnlyAsks();

  /// What was refused since the last call, "CREATE TABLE"; empty if nothing was.
  std::string take_refused();

 private:
  static int authorize(void* self, int action, const char* first, const char* second,
                       const char* database, const char* origin);
  int judge(int action, const char* first, const char* second);
  int refuse(std::string what);

  const SqliteLibrary& library_;
  sqlite3* connection_;
  std::string refused_;
};

/// Half of the machine's memory, at most 8 GiB.
[[nodiscard]] int64_t query_memory_bytes();

}  // namespace sonde::sql
