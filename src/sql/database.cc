#include "sql/database.h"

#include <fmt/ranges.h>

#include <optional>

#include "abi/syscalls.h"
#include "sql/only_asks.h"
#include "sql/recording_tables.h"
#include "sql/sqlite_library.h"
#include "sql/tracepoint_table.h"
#include "sql/views.h"
#include "sql/virtual_table.h"

namespace sonde::sql {

struct Database::State {
  State(const SqliteLibrary& functions, const Session& recorded)
      : library(functions), session(recorded), formats(recorded.recording()), texts(recorded) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    only_asks.reset();
    library.close(connection);
  }

  const SqliteLibrary& library;
  const Session& session;
  TraceFormats formats;
  SessionTexts texts;
  std::vector<std::unique_ptr<RowSource>> tables;
  std::vector<View> views;
  sqlite3* connection = nullptr;
  int64_t memory_bytes = query_memory_bytes();
  std::optional<OnlyAsks> only_asks;
};

namespace {

/// syscall_name(number): of this machine's architecture; NULL for an unknown one.
void syscall_name(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const SqliteLibrary& library = **SqliteLibrary::load();
  auto wanted = library.value_int64(values[0]);
  for (const abi::SyscallInfo& call : abi::syscalls())
    if (call.number() == wanted && wanted >= 0)
      return library.result_text(context, call.name.data(), static_cast<int>(call.name.size()),
                                 SQLITE_STATIC);
  library.result_null(context);
}

Value cell_of(const SqliteLibrary& library, sqlite3_stmt* statement, int column) {
  switch (library.column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<int64_t>(library.column_int64(statement, column));
    case SQLITE_FLOAT:
      return library.column_double(statement, column);
    case SQLITE_NULL:
      return Null{};
    default: {
      const auto* text = reinterpret_cast<const char*>(library.column_text(statement, column));
      auto size = static_cast<size_t>(library.column_bytes(statement, column));
      return LastingText{text == nullptr ? std::string_view() : std::string_view(text, size)};
    }
  }
}

/// A prepared statement.
class Statement {
 public:
  Statement(const SqliteLibrary& library, sqlite3* connection, const char* text)
      : library_(library) {
    status_ = library.prepare_v2(connection, text, -1, &statement_, &rest_);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { library_.finalize(statement_); }

  [[nodiscard]] bool is_good() const { return status_ == SQLITE_OK; }
  /// Null if there was nothing but blanks and comments.
  [[nodiscard]] sqlite3_stmt* get() const { return statement_; }
  [[nodiscard]] const char* rest() const { return rest_; }

 private:
  const SqliteLibrary& library_;
  sqlite3_stmt* statement_ = nullptr;
  const char* rest_ = nullptr;
  int status_ = SQLITE_OK;
};

bool write_rows(const SqliteLibrary& library, sqlite3_stmt* statement, ResultWriter& writer) {
  int columns = library.column_count(statement);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) names.emplace_back(library.column_name(statement, i));
  if (columns > 0) writer.begin(names);
  std::vector<Value> row(static_cast<size_t>(columns));
  int status = library.step(statement);
  for (; status == SQLITE_ROW; status = library.step(statement)) {
    for (int i = 0; i < columns; ++i) row[static_cast<size_t>(i)] = cell_of(library, statement, i);
    writer.row(row);
  }
  if (columns > 0) writer.end();
  return status == SQLITE_DONE;
}

}  // namespace

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const Session& session) {
  const SqliteLibrary& library = *TRY(SqliteLibrary::load());
  auto state = std::make_unique<State>(library, session);
  auto refused = [&] {
    return fail(ErrorCode::kFailed, "SQLite: {}",
                state->connection == nullptr ? "no memory" : library.errmsg(state->connection));
  };
  if (library.open(":memory:", &state->connection) != SQLITE_OK) return refused();
  if (library.create_function(state->connection, "syscall_name", 1,
                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                              syscall_name, nullptr, nullptr) != SQLITE_OK)
    return refused();
  state->tables = recording_tables(state->texts);
  for (auto& table : tracepoint_tables(session, state->formats))
    state->tables.push_back(std::move(table));
  for (const auto& table : state->tables)
    if (add_table(library, state->connection, *table) != SQLITE_OK) return refused();
  state->views = views_of(state->tables);
  for (const View& view : state->views)
    if (library.exec(state->connection,
                     fmt::format("CREATE VIEW {} AS {}", view.name, view.query).c_str(), nullptr,
                     nullptr, nullptr) != SQLITE_OK)
      return refused();
  state->only_asks.emplace(library, state->connection, state->memory_bytes);
  return Database(std::move(state));
}

Result<> Database::run(const std::string& statements, ResultWriter& writer) {
  const SqliteLibrary& library = state_->library;
  const char* text = statements.c_str();
  while (*text != '\0') {
    Statement statement(library, state_->connection, text);
    bool is_done = statement.is_good() &&
                   (statement.get() == nullptr || write_rows(library, statement.get(), writer));
    if (!is_done) return why_it_failed();
    text = statement.rest();
  }
  return {};
}

/// Of the statement that has just failed.
std::unexpected<Error> Database::why_it_failed() {
  const SqliteLibrary& library = state_->library;
  if (std::string refused = state_->only_asks->take_refused(); !refused.empty())
    return fail(ErrorCode::kFailed,
                "{} is refused: a recording is only asked, nothing is changed and no file opened; "
                "use SELECT, and WITH for what it needs several times",
                refused);
  if ((library.errcode(state_->connection) & 0xff) == SQLITE_NOMEM)
    return fail(
        ErrorCode::kFailed,
        "the query needs too much memory (the limit is {} MiB): ask for fewer rows or columns",
        state_->memory_bytes >> 20);
  return fail(ErrorCode::kFailed, "{}", library.errmsg(state_->connection));
}

bool Database::is_complete(const std::string& text) const {
  return state_->library.complete(text.c_str()) != 0;
}

std::vector<std::string> Database::names() const {
  std::vector<std::string> names;
  for (const auto& table : state_->tables) names.push_back(table->name());
  for (const View& view : state_->views) names.push_back(view.name);
  return names;
}

std::string Database::schema(std::string_view name) const {
  std::string text;
  for (const auto& table : state_->tables)
    if (name.empty() || table->name() == name) text += declaration_of(*table) + "\n";
  for (const View& view : state_->views)
    if (name.empty() || view.name == name)
      text += fmt::format("{}({})  -- view\n", view.name, view.columns);
  return text;
}

}  // namespace sonde::sql
