// Python's C API, its stable part: one build of the module is loaded by every Python from 3.10 on.
// The only place that includes Python.h.
//
// A function that Python calls returns nullptr, or -1, with an exception set.
#pragma once

#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Python.h>
#include <structmember.h>
#pragma GCC diagnostic pop

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace sonde::bindings {

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
  ~PyRef() { Py_XDECREF(object_); }
  /// A new reference to an object that somebody else owns.
  static PyRef share(PyObject* object) {
    Py_XINCREF(object);
    return PyRef(object);
  }
  [[nodiscard]] PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Text of any bytes: what is not UTF-8 is shown as \xNN.
[[nodiscard]] inline PyObject* text_object(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                              "backslashreplace");
}

/// OSError, or its subclass for that errno, with a message that says what failed.
inline std::nullptr_t raise_errno(int error_number, std::string_view what) {
  std::string message = fmt::format("{}: {}", what, std::string_view(strerror(error_number)));
  PyRef arguments(Py_BuildValue("(is)", error_number, message.c_str()));
  if (arguments) PyErr_SetObject(PyExc_OSError, arguments.get());
  return nullptr;
}

/// The exception that Python's users expect for that kind of error.
inline std::nullptr_t raise(const Error& error) {
  PyObject* kind = PyExc_RuntimeError;
  if (error.code == ErrorCode::kUsage || error.code == ErrorCode::kBadEvent)
    kind = PyExc_ValueError;
  if (error.code == ErrorCode::kNotFound) kind = PyExc_LookupError;
  if (error.code == ErrorCode::kPermission) kind = PyExc_PermissionError;
  PyErr_SetString(kind, error.message.c_str());
  return nullptr;
}

/// A Python object that holds a C++ value, made and destroyed with it.
template <typename Value>
struct Boxed {
  PyObject_HEAD Value* value;
};

template <typename Value>
Value& unbox(PyObject* object) {
  return *reinterpret_cast<Boxed<Value>*>(object)->value;
}

template <typename Value>
PyObject* box_new(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (object != nullptr) reinterpret_cast<Boxed<Value>*>(object)->value = new Value();
  return object;
}

/// Types made from a spec are counted by their objects.
template <typename Value>
void box_free(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  delete reinterpret_cast<Boxed<Value>*>(object)->value;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/// A function as Python's tables of slots and methods want it.
template <typename Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}
template <typename Function>
PyCFunction method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Makes a type of the module; a borrowed reference that stays valid while the module is loaded.
inline PyTypeObject* add_type(PyObject* module, PyType_Spec& spec, const char* name) {
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr || PyModule_AddObjectRef(module, name, type) != 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace sonde::bindings
