#include "sql/sqlite_library.h"

#include <dlfcn.h>

namespace sonde::sql {
namespace {

constexpr const char* kLibraryFile = "libsqlite3.so.0";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

SqliteLibrary open_library(bool& is_complete) {
  SqliteLibrary library;
  void* handle = ::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  is_complete = handle != nullptr;
  if (!is_complete) return library;
#define SONDE_SQLITE_FUNCTION(name) is_complete &= find(handle, "sqlite3_" #name, library.name);
#include "sql/sqlite_functions.def"
#undef SONDE_SQLITE_FUNCTION
  return library;
}

}  // namespace

Result<const SqliteLibrary*> SqliteLibrary::load() {
  static bool is_complete = false;
  static const SqliteLibrary library = open_library(is_complete);
  if (!is_complete)
    return fail(
        ErrorCode::kUnsupported,
        "{} was not found, or is older than SQLite 3.31: install SQLite (Debian: libsqlite3-0)",
        kLibraryFile);
  return &library;
}

}  // namespace sonde::sql
