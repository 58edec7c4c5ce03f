#include "python/python_library.h"

#include <dlfcn.h>

namespace sonde::python {
namespace {

constexpr const char* kLibrary = "libpython3.11.so.1.0";

/// Null if it has not been loaded.
void* handle() {
  // Extension modules of Python find its functions in the global scope.
  static void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  return library;
}

Library& table() {
  static Library library;
  return library;
}

PyObject* exception(const char* name) {
  auto* place = static_cast<PyObject**>(::dlsym(handle(), name));
  return place == nullptr ? nullptr : *place;
}

}  // namespace

Result<> load_python() {
  auto missing = [](const char* what) {
    return fail(ErrorCode::kUnsupported, "Python scripts need {}, which {}: install libpython3.11",
                kLibrary, what);
  };
  if (handle() == nullptr) return missing("is not installed");
  Library& library = table();
  bool is_complete = true;
  auto find = [&](const char* name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle(), name));
    is_complete &= function != nullptr;
  };
#define PYTHON_FUNCTION(name) find(#name, library.name);
#include "python/python_functions.def"
#undef PYTHON_FUNCTION
  find("_Py_NoneStruct", library.none);
  if (!is_complete) return missing("is not complete");
  return {};
}

void find_python_objects() {
  Library& library = table();
  library.system_exit = exception("PyExc_SystemExit");
  library.keyboard_interrupt = exception("PyExc_KeyboardInterrupt");
  library.import_error = exception("PyExc_ImportError");
  library.type_error = exception("PyExc_TypeError");
  library.runtime_error = exception("PyExc_RuntimeError");
}

const Library& py() {
  return table();
}

}  // namespace sonde::python
