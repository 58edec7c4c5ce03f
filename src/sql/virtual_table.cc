#include "sql/virtual_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace sonde::sql {
namespace {

/// What a query plan asks of a table, in SQLite's `idxNum`: a column whose value is known, or one
/// to sort by; columns are counted from 1.
constexpr int kSortShift = 12, kColumnMask = (1 << kSortShift) - 1;
constexpr int kDescending = 1 << (2 * kSortShift);

struct Table {
  sqlite3_vtab base;  // SQLite's part comes first
  const SqliteLibrary* library;
  RowSource* source;
};

struct Module {
  sqlite3_module callbacks;
  const SqliteLibrary* library;
  RowSource* source;
};

struct Cursor {
  sqlite3_vtab_cursor base;
  std::vector<uint32_t> order;  // of the rows, if they were sorted
  size_t next = 0, end = 0;

  [[nodiscard]] size_t row() const { return order.empty() ? next : order[next]; }
};

Table& table_of(sqlite3_vtab* base) {
  return *reinterpret_cast<Table*>(base);
}
Cursor& cursor_of(sqlite3_vtab_cursor* base) {
  return *reinterpret_cast<Cursor*>(base);
}

std::string_view type_name(Column::Type type) {
  return type == Column::Type::kInteger ? "INTEGER" : type == Column::Type::kReal ? "REAL" : "TEXT";
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

int connect(sqlite3* connection, void* data, int /*count*/, const char* const* /*words*/,
            sqlite3_vtab** out, char** /*error*/) {
  auto& module = *static_cast<Module*>(data);
  std::string text = "CREATE TABLE x(";
  for (const Column& column : module.source->columns())
    text += fmt::format("{}{} {}", text.ends_with('(') ? "" : ",", quoted(column.name),
                        type_name(column.type));
  if (int status = module.library->declare_vtab(connection, (text + ")").c_str());
      status != SQLITE_OK)
    return status;
  // Views use it, which is safe: it only reads.
  module.library->vtab_config(connection, SQLITE_VTAB_INNOCUOUS);
  *out = &(new Table{{}, module.library, module.source})->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete &table_of(table);
  return SQLITE_OK;
}

/// A key's rows are found at once; otherwise all are visited, in the order that is asked for if the
/// source knows it.
int choose_plan(sqlite3_vtab* base, sqlite3_index_info* info) {
  const RowSource& source = *table_of(base).source;
  auto count = static_cast<double>(source.rows());
  info->estimatedCost = count + 1;
  info->estimatedRows = static_cast<sqlite3_int64>(source.rows());
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.usable == 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ ||
        constraint.iColumn < 0 || constraint.iColumn >= kColumnMask ||
        !source.columns()[static_cast<size_t>(constraint.iColumn)].is_key)
      continue;
    constexpr int kRowsOfKey = 16;
    info->aConstraintUsage[i] = {.argvIndex = 1, .omit = 0};
    info->idxNum = constraint.iColumn + 1;
    info->estimatedCost = kRowsOfKey;
    info->estimatedRows = kRowsOfKey;
    return SQLITE_OK;
  }
  if (info->nOrderBy != 1) return SQLITE_OK;
  int column = info->aOrderBy[0].iColumn;
  if (column < 0 || column >= kColumnMask ||
      !source.columns()[static_cast<size_t>(column)].can_sort)
    return SQLITE_OK;
  info->idxNum = (column + 1) << kSortShift;
  if (info->aOrderBy[0].desc != 0) info->idxNum |= kDescending;
  info->orderByConsumed = 1;
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** out) {
  *out = &(new Cursor{})->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

int start(sqlite3_vtab_cursor* base, int plan, const char* /*text*/, int count,
          sqlite3_value** values) {
  Cursor& cursor = cursor_of(base);
  Table& table = table_of(base->pVtab);
  cursor.order.clear();
  cursor.next = 0;
  cursor.end = table.source->rows();
  int key = plan & kColumnMask, sorted = (plan >> kSortShift) & kColumnMask;
  if (key != 0 && count == 1) {
    if (table.library->value_type(values[0]) == SQLITE_INTEGER)
      std::tie(cursor.next, cursor.end) = table.source->rows_equal(
          static_cast<size_t>(key - 1), table.library->value_int64(values[0]));
    return SQLITE_OK;  // SQLite checks the value itself, whatever its type
  }
  if (sorted == 0) return SQLITE_OK;
  cursor.order = table.source->sorted_by(static_cast<size_t>(sorted - 1));
  if ((plan & kDescending) != 0) std::ranges::reverse(cursor.order);
  return SQLITE_OK;
}

int advance(sqlite3_vtab_cursor* cursor) {
  ++cursor_of(cursor).next;
  return SQLITE_OK;
}

int is_at_end(sqlite3_vtab_cursor* base) {
  const Cursor& cursor = cursor_of(base);
  return cursor.next >= cursor.end ? 1 : 0;
}

struct ValueGiver {
  const SqliteLibrary& library;
  sqlite3_context* context;

  void operator()(Null) const { library.result_null(context); }
  void operator()(int64_t value) const { library.result_int64(context, value); }
  void operator()(double value) const { library.result_double(context, value); }
  void operator()(LastingText value) const {
    library.result_text(context, value.text.data(), static_cast<int>(value.text.size()),
                        SQLITE_STATIC);
  }
  void operator()(const std::string& value) const {
    // SQLITE_TRANSIENT is a cast that -Wold-style-cast and Clang's checks object to.
    auto copy = reinterpret_cast<sqlite3_destructor_type>(intptr_t{-1});
    library.result_text(context, value.data(), static_cast<int>(value.size()), copy);
  }
};

int cell(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  Table& table = table_of(base->pVtab);
  std::visit(ValueGiver{*table.library, context},
             table.source->at(cursor_of(base).row(), static_cast<size_t>(column)));
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(cursor_of(cursor).row());
  return SQLITE_OK;
}

void forget_module(void* module) {
  delete static_cast<Module*>(module);
}

}  // namespace

int add_table(const SqliteLibrary& library, sqlite3* connection, RowSource& source) {
  auto module = std::make_unique<Module>(Module{{}, &library, &source});
  // Without xCreate it is "eponymous": there is one such table, and nothing to create.
  sqlite3_module& callbacks = module->callbacks;
  callbacks.iVersion = 1;
  callbacks.xConnect = connect;
  callbacks.xDisconnect = disconnect;
  callbacks.xBestIndex = choose_plan;
  callbacks.xOpen = open_cursor;
  callbacks.xClose = close_cursor;
  callbacks.xFilter = start;
  callbacks.xNext = advance;
  callbacks.xEof = is_at_end;
  callbacks.xColumn = cell;
  callbacks.xRowid = row_id;
  Module* owned = module.release();  // by SQLite, also if this fails
  return library.create_module_v2(connection, source.name().c_str(), &owned->callbacks, owned,
                                  forget_module);
}

std::string declaration_of(const RowSource& source) {
  std::string text = source.name() + "(";
  for (const Column& column : source.columns())
    text += fmt::format("{}{} {}", text.ends_with('(') ? "" : ", ", column.name,
                        type_name(column.type));
  return text + ")";
}

}  // namespace sonde::sql
