// libpython, loaded when a script is run: no other command pays for it, and Sonde starts where it
// is not installed (docs/decisions/0021-python-loaded-when-asked-for.md).
//
// The only place that includes Python.h; everything else calls `py().PyLong_FromLongLong(…)`, by
// the names of Python's C API (https://docs.python.org/3/c-api/). Macros and inline functions of
// Python.h that call into the library do not link, and are not needed.
//
// The library may be of another release than the headers: so nothing here looks into an object.
//
//   TRY(load_python());
//   PyRef number(py().PyLong_FromLongLong(5));
#pragma once

#define PY_SSIZE_T_CLEAN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Python.h>
#pragma GCC diagnostic pop

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace sonde::python {

struct Library {
#define PYTHON_FUNCTION(name) decltype(&::name) name = nullptr;
#include "python/python_functions.def"
#undef PYTHON_FUNCTION
  PyObject* none = nullptr;         // Py_None
  PyObject* system_exit = nullptr;  // PyExc_SystemExit; set when the interpreter runs
  PyObject* keyboard_interrupt = nullptr;
  PyObject* import_error = nullptr;
  PyObject* type_error = nullptr;
  PyObject* runtime_error = nullptr;
};

/// Loads the newest release that is installed; it stays. kUnsupported if there is none.
Result<> load_python();
/// "libpython3.11": the package of the loaded library where packages are Debian's.
[[nodiscard]] std::string python_package();
/// The library; load_python must have succeeded.
const Library& py();
/// Once the interpreter runs: what only exists from then on.
void find_python_objects();

/// A reference that this object owns; may be null.
class PyRef {
 public:
  PyRef() = default;
  explicit PyRef(PyObject* owned) : object_(owned) {}
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() {
    if (object_ != nullptr) py().Py_DecRef(object_);
  }
  /// A new reference to an object that somebody else owns.
  static PyRef share(PyObject* object) {
    if (object != nullptr) py().Py_IncRef(object);
    return PyRef(object);
  }
  [[nodiscard]] PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Text of any bytes: what is not UTF-8 is shown as \xNN.
[[nodiscard]] inline PyRef text_object(std::string_view text) {
  return PyRef(py().PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                         "backslashreplace"));
}
[[nodiscard]] inline PyRef number_object(uint64_t value) {
  return PyRef(py().PyLong_FromUnsignedLongLong(value));
}
[[nodiscard]] inline PyRef signed_object(int64_t value) {
  return PyRef(py().PyLong_FromLongLong(value));
}
/// Drops an error, and the entry, if memory runs out.
inline void put(PyObject* dict, const char* key, const PyRef& value) {
  if (!value || py().PyDict_SetItemString(dict, key, value.get()) != 0) py().PyErr_Clear();
}
inline void append(PyObject* list, const PyRef& value) {
  if (!value || py().PyList_Append(list, value.get()) != 0) py().PyErr_Clear();
}

}  // namespace sonde::python
