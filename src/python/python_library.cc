#include "python/python_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "python/python_installed.h"

namespace sonde::python {
namespace {

constexpr int kOldestMinor = 9, kNewestMinor = 14;

struct FoundLibrary {
  void* handle = nullptr;  // null: none is installed
  int minor = 0;
};

FoundLibrary find_library() {
  // Extension modules of Python find its functions in the global scope.
  for (int minor = kNewestMinor; minor >= kOldestMinor; --minor)
    if (void* handle =
            ::dlopen(fmt::format("libpython3.{}.so.1.0", minor).c_str(), RTLD_NOW | RTLD_GLOBAL))
      return {handle, minor};
  return {};
}

const FoundLibrary& found_library() {
  static const FoundLibrary library = find_library();
  return library;
}

/// "libpython3.11": of the release that `python3` is; "libpython3" if that is not installed either.
std::string missing_package() {
  std::error_code ignored;
  std::string program = std::filesystem::read_symlink("/usr/bin/python3", ignored).filename();
  return program.starts_with("python3.") ? "lib" + program : "libpython3";
}

Library& table() {
  static Library library;
  return library;
}

PyObject* exception(const char* name) {
  auto* place = static_cast<PyObject**>(::dlsym(found_library().handle, name));
  return place == nullptr ? nullptr : *place;
}

}  // namespace

Result<> load_python() {
  if (!is_python_installed())
    return fail(ErrorCode::kUnsupported,
                "Python scripts need a libpython from 3.{} to 3.{}, and none is installed: install "
                "{} (Fedora: python3-libs, Arch: python)",
                kOldestMinor, kNewestMinor, missing_package());
  Library& library = table();
  bool is_complete = true;
  auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(found_library().handle, name));
    is_complete &= function != nullptr;
  };
#define PYTHON_FUNCTION(name) find(#name, library.name);
#include "python/python_functions.def"
#undef PYTHON_FUNCTION
  find("_Py_NoneStruct", library.none);
  if (!is_complete)
    return fail(ErrorCode::kUnsupported,
                "Python scripts need {}, which lacks functions: install it again",
                python_package());
  return {};
}

bool is_python_installed() {
  return found_library().handle != nullptr;
}

std::string python_package() {
  return fmt::format("libpython3.{}", found_library().minor);
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
