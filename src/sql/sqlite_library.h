// SQLite, loaded when a query is asked for: no other command pays for it.
#pragma once

#include <sqlite3.h>

#include "base/error.h"

namespace sonde::sql {

/// The functions that are used, as sqlite3.h declares them.
struct SqliteLibrary {
#define SONDE_SQLITE_FUNCTIONS(X)                                                            \
  X(open)                                                                                    \
  X(close)                                                                                   \
  X(exec)                                                                                    \
  X(free) X(errmsg) X(complete) X(create_module_v2) X(declare_vtab) X(create_function)       \
      X(prepare_v2) X(step) X(finalize) X(sql) X(column_count) X(column_name) X(column_type) \
          X(column_int64) X(column_double) X(column_text) X(column_bytes) X(user_data)       \
              X(result_null) X(result_int64) X(result_double) X(result_text) X(value_int64)  \
                  X(value_type)
#define SONDE_SQLITE_MEMBER(name) decltype(&::sqlite3_##name) name = nullptr;
  SONDE_SQLITE_FUNCTIONS(SONDE_SQLITE_MEMBER)
#undef SONDE_SQLITE_MEMBER

  /// kUnsupported if it is not installed.
  static Result<const SqliteLibrary*> load();
};

}  // namespace sonde::sql
