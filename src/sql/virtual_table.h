// A RowSource as a virtual table of SQLite (https://sqlite.org/vtab.html): it exists in every
// connection under its name, and cannot be written.
#pragma once

#include "sql/row_source.h"
#include "sql/sqlite_library.h"

namespace sonde::sql {

/// `source` and `library` must outlive the connection. Returns SQLite's status.
int add_table(const SqliteLibrary& library, sqlite3* connection, RowSource& source);

/// "samples(id INTEGER, event TEXT, …)"
[[nodiscard]] std::string declaration_of(const RowSource& source);

}  // namespace sonde::sql
