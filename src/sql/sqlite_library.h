// SQLite, loaded when a query is asked for: no other command pays for it.
#pragma once

#include <sqlite3.h>

#include "base/error.h"

namespace sonde::sql {

/// The functions that are used, as sqlite3.h declares them.
struct SqliteLibrary {
#define SONDE_SQLITE_FUNCTION(name) decltype(&::sqlite3_##name) name = nullptr;
#include "sql/sqlite_functions.def"
#undef SONDE_SQLITE_FUNCTION

  /// kUnsupported if it is not installed.
  static Result<const SqliteLibrary*> load();
};

}  // namespace sonde::sql
