// Any text as SQL, on a connection that only asks: nothing is written, attached or left behind.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "sql/only_asks.h"
#include "sql/sqlite_library.h"

namespace {

using sonde::sql::OnlyAsks;
using sonde::sql::SqliteLibrary;

constexpr const char* kTables =
    "CREATE TABLE samples(id INTEGER, time INTEGER, comm TEXT, symbol TEXT, period REAL);"
    "INSERT INTO samples VALUES (0, 1, 'a', 'main', 1.5), (1, 2, '=b', NULL, 2), (2, 3, '', 'x', "
    "0);"
    "CREATE VIEW busy AS SELECT comm, count(*) n FROM samples GROUP BY comm;";

struct Budget {
  int rounds = 50;  // of a thousand instructions
};

int spend(void* budget) {
  return --static_cast<Budget*>(budget)->rounds < 0 ? 1 : 0;
}

int add_row(void* all, int columns, char** values, char** /*names*/) {
  for (int i = 0; i < columns; ++i)
    *static_cast<std::string*>(all) += std::string(values[i] ? values[i] : "NULL") + '|';
  return 0;
}

/// Everything that a query could change.
std::string state_of(const SqliteLibrary& library, sqlite3* connection) {
  std::string all;
  library.exec(
      connection,
      "PRAGMA database_list; PRAGMA schema_version; PRAGMA query_only; PRAGMA user_version;"
      "SELECT * FROM sqlite_schema; SELECT * FROM sqlite_temp_schema; SELECT * FROM samples",
      add_row, &all, nullptr);
  return all + std::to_string(library.total_changes(connection));
}

}  // namespace

FUZZ_TARGET(sql)(const uint8_t* data, size_t size) {
  auto loaded = SqliteLibrary::load();
  if (!loaded) return 0;
  const SqliteLibrary& library = **loaded;
  sqlite3* connection = nullptr;
  if (library.open(":memory:", &connection) != SQLITE_OK) __builtin_trap();
  if (library.exec(connection, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) __builtin_trap();
  library.exec(connection, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
  std::string before = state_of(library, connection);
  {
    OnlyAsks only_asks(library, connection, int64_t{64} << 20);
    // A function is not interrupted: small arguments.
    library.limit(connection, SQLITE_LIMIT_LENGTH, 10'000);
    library.limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 20);
    Budget budget;
    library.progress_handler(connection, 1000, spend, &budget);
    std::string text(reinterpret_cast<const char*>(data), size);
    const char* at = text.c_str();
    for (int statements = 0; *at != '\0' && statements < 20; ++statements) {
      sqlite3_stmt* statement = nullptr;
      int status = library.prepare_v2(connection, at, -1, &statement, &at);
      for (int rows = 0; statement != nullptr && rows < 1000; ++rows) {
        status = library.step(statement);
        if (status != SQLITE_ROW) break;
        for (int i = 0; i < library.column_count(statement); ++i)
          (void)library.column_text(statement, i);
      }
      library.finalize(statement);
      (void)only_asks.take_refused();
      if (status != SQLITE_OK && status != SQLITE_ROW && status != SQLITE_DONE) break;
    }
    library.progress_handler(connection, 0, nullptr, nullptr);
  }
  if (state_of(library, connection) != before) __builtin_trap();
  library.close(connection);
  return 0;
}
