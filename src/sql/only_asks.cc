#include "sql/only_asks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sonde::sql {
namespace {

/// Those that only describe.
constexpr std::string_view kPragmas[] = {"table_info",    "table_xinfo",     "table_list",
                                         "function_list", "collation_list",  "module_list",
                                         "pragma_list",   "compile_options", "database_list"};

/// Those that reach beyond the query: code, files, addresses in memory. Most are not in the
/// library, but in its shell or in extensions.
constexpr std::string_view kFunctions[] = {"load_extension", "fts3_tokenizer", "readfile",
                                           "writefile",      "edit",           "fsdir",
                                           "zipfile",        "sqlar_compress", "sqlar_uncompress"};

struct Limit {
  int which, most;
};
constexpr Limit kLimits[] = {
    {SQLITE_LIMIT_LENGTH, 1 << 28},            // bytes of a cell
    {SQLITE_LIMIT_SQL_LENGTH, 1'000'000},      // bytes of a statement
    {SQLITE_LIMIT_EXPR_DEPTH, 1000},           //
    {SQLITE_LIMIT_COMPOUND_SELECT, 500},       //
    {SQLITE_LIMIT_VDBE_OP, 1'000'000},         // instructions of a statement
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},  // its time grows with a power of the length
    {SQLITE_LIMIT_ATTACHED, 0},                //
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},           //
    {SQLITE_LIMIT_WORKER_THREADS, 0},          //
};

bool same(std::string_view a, std::string_view b) {
  auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, small, small);
}

template <size_t N>
bool is_among(const std::string_view (&names)[N], const char* name) {
  return name != nullptr &&
         std::ranges::any_of(names, [name](std::string_view known) { return same(known, name); });
}

/// The table of the tables.
bool is_schema(const char* table) {
  constexpr std::string_view kSchema[] = {"sqlite_master", "sqlite_temp_master"};
  return is_among(kSchema, table);
}

std::string_view text_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

/// How a statement begins that needs this action.
std::string_view statement_of(int action) {
  switch (action) {
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TEMP_INDEX:
      return "CREATE INDEX";
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_TEMP_TABLE:
      return "CREATE TABLE";
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_TEMP_TRIGGER:
      return "CREATE TRIGGER";
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TEMP_VIEW:
      return "CREATE VIEW";
    case SQLITE_CREATE_VTABLE:
      return "CREATE VIRTUAL TABLE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_ATTACH:
      return "ATTACH";  // VACUUM as well
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_ALTER_TABLE:
      return "ALTER TABLE";
    case SQLITE_REINDEX:
      return "REINDEX";
    case SQLITE_ANALYZE:
      return "ANALYZE";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_VTABLE:
    case SQLITE_DROP_VIEW:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TRIGGER:
    case SQLITE_DROP_TEMP_TRIGGER:
      return "DROP";
    default:
      return "this statement";
  }
}

}  // namespace

OnlyAsks::OnlyAsks(const SqliteLibrary& library, sqlite3* connection, int64_t memory_bytes)
    : library_(library), connection_(connection) {
  // What does not fit in memory shall not fill a disk.
  library_.exec(connection_, "PRAGMA temp_store = MEMORY; PRAGMA query_only = ON", nullptr, nullptr,
                nullptr);
  library_.db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  library_.db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  library_.db_config(connection_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  library_.db_config(connection_, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
  for (const Limit& limit : kLimits) library_.limit(connection_, limit.which, limit.most);
  library_.hard_heap_limit64(memory_bytes);
  library_.set_authorizer(connection_, authorize, this);
}

OnlyAsks::~OnlyAsks() {
  library_.set_authorizer(connection_, nullptr, nullptr);
}

std::string OnlyAsks::take_refused() {
  return std::exchange(refused_, {});
}

int OnlyAsks::authorize(void* self, int action, const char* first, const char* second,
                        const char* /*database*/, const char* /*origin*/) {
  return static_cast<OnlyAsks*>(self)->judge(action, first, second);
}

int OnlyAsks::judge(int action, const char* first, const char* second) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (!is_among(kFunctions, second)) return SQLITE_OK;
      return refuse(fmt::format("{}()", text_of(second)));
    case SQLITE_PRAGMA:
      if (is_among(kPragmas, first)) return SQLITE_OK;
      return refuse(fmt::format("PRAGMA {}", text_of(first)));
    case SQLITE_UPDATE:
      // SQLite itself asks this when a virtual table (json_each is one) tells its columns. A
      // statement that wants it fails all the same: the schema is defended.
      if (is_schema(first)) return SQLITE_OK;
      return refuse("UPDATE");
    case SQLITE_INSERT:
    case SQLITE_DELETE:
      if (is_schema(first)) return refuse("a change of the schema");  // it is asked first
      [[fallthrough]];
    default:
      return refuse(std::string(statement_of(action)));
  }
}

int OnlyAsks::refuse(std::string what) {
  if (refused_.empty()) refused_ = std::move(what);
  return SQLITE_DENY;
}

int64_t query_memory_bytes() {
  constexpr int64_t kMost = int64_t{8} << 30, kLeast = int64_t{256} << 20;
  int64_t half = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 2;
  return std::clamp(half, kLeast, kMost);
}

}  // namespace sonde::sql
