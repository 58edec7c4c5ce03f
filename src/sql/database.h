// A recording as a database: SQLite's virtual tables over a replayed session. Nothing is exported.
//
//   Database database = TRY(Database::open(session));
//   TRY(database.run("SELECT symbol, count(*) FROM samples GROUP BY symbol", writer));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/session.h"
#include "sql/row_source.h"

namespace sonde::sql {

/// Takes the rows of a result.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void begin(const std::vector<std::string>& columns) = 0;
  /// `row` lasts for the call.
  virtual void row(const std::vector<Value>& row) = 0;
  virtual void end() = 0;
};

class Database {
 public:
  /// `session` must outlive it, and needs symbols and all columns. kUnsupported without SQLite.
  static Result<Database> open(const Session& session);
  Database(Database&&) noexcept;
  ~Database();

  /// Runs statements, one after the other; each that has columns is one result. Fails with SQLite's
  /// reason if one is wrong, and if one does not only ask (only_asks.h).
  Result<> run(const std::string& statements, ResultWriter& writer);
  /// Whether the text is a whole statement: it ends in a semicolon.
  [[nodiscard]] bool is_complete(const std::string& text) const;

  /// Names of tables and views.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Their columns, a line each; of one table, or of all if `name` is empty.
  [[nodiscard]] std::string schema(std::string_view name) const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unexpected<Error> why_it_failed();
  std::unique_ptr<State> state_;
};

}  // namespace sonde::sql
