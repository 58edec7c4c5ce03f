#include "python/interpreter.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/foreign/found_code.h"
#include "base/printing/printable.h"
#include "python/context_module.h"
#include "python/helper_modules.h"

namespace sonde::python {
namespace {

PyRef path_object(const std::string& path) {
  return PyRef(
      py().PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

/// As `python SCRIPT ARGUMENTS` would set them.
void set_arguments(const InterpreterSetup& setup) {
  PyRef argv(py().PyList_New(0));
  append(argv.get(), path_object(setup.script));
  for (const std::string& argument : setup.arguments) append(argv.get(), path_object(argument));
  py().PySys_SetObject("argv", argv.get());
  std::error_code ignored;
  std::filesystem::path real = std::filesystem::canonical(setup.script, ignored);
  // A script in /tmp would import whatever anybody has put beside it under the name of a module.
  if (is_open_to_all(real.parent_path())) return;
  if (PyObject* path = py().PySys_GetObject("path"); path != nullptr)
    py().PyList_Insert(path, 0, path_object(real.parent_path().string()).get());
}

/// An integer attribute of a code object; 0 if there is none.
long attribute(PyObject* code, const char* name) {
  PyRef value(py().PyObject_GetAttrString(code, name));
  long number = value ? py().PyLong_AsLong(value.get()) : 0;
  if (py().PyErr_Occurred() != nullptr) py().PyErr_Clear();
  return number;
}

bool names_one_of(PyObject* tuple, std::span<const char* const> names) {
  return std::ranges::any_of(names, [&](const char* name) {
    return py().PySequence_Contains(tuple, text_object(name).get()) == 1;
  });
}

/// How instructions name local variables: the numbers of opcodes are each release's own, and from
/// 3.13 on some instructions name two variables (https://docs.python.org/3/library/dis.html).
struct Opcodes {
  std::array<uint8_t, 256> locals{};  // by opcode: how many local variables its argument names
  unsigned extended_arg = 0;          // 0: nothing is known
};

constexpr const char* kOpcodeModule = "opcode";

Opcodes opcodes() {
  Opcodes found;
  PyRef module(py().PyImport_ImportModule(kOpcodeModule)), numbers;
  if (module) numbers = PyRef(py().PyObject_GetAttrString(module.get(), "opmap"));
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (numbers && py().PyDict_Next(numbers.get(), &at, &key, &value) != 0) {
    const char* text = py().PyUnicode_AsUTF8AndSize(key, nullptr);
    long number = py().PyLong_AsLong(value);
    if (text == nullptr || number <= 0 || number > 255) continue;  // above: the compiler's own
    std::string_view name = text;
    constexpr std::string_view kLocal = "_FAST";  // LOAD_FAST, STORE_FAST_LOAD_FAST
    size_t first = name.find(kLocal);
    if (first != std::string_view::npos)
      found.locals[static_cast<size_t>(number)] =
          name.find(kLocal, first + 1) == std::string_view::npos ? 1 : 2;
    if (name == "EXTENDED_ARG") found.extended_arg = static_cast<unsigned>(number);
  }
  py().PyErr_Clear();
  return found;
}

/// Which parameters the code loads, by its instructions: each has a number of two bytes, opcode and
/// argument.
std::vector<bool> loaded_parameters(PyObject* code, int count) {
  std::vector<bool> all(static_cast<size_t>(count), true);
  // These can see variables that no instruction names.
  constexpr std::array kSeers = {"locals", "vars",      "eval",         "exec",
                                 "dir",    "_getframe", "currentframe", "inspect"};
  PyRef names(py().PyObject_GetAttrString(code, "co_names"));
  PyRef cells(py().PyObject_GetAttrString(code, "co_cellvars"));
  PyRef bytes(py().PyObject_GetAttrString(code, "co_code"));
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (!names || !cells || !bytes || py().PyTuple_Size(cells.get()) != 0 ||
      names_one_of(names.get(), kSeers) ||
      py().PyBytes_AsStringAndSize(bytes.get(), &text, &size) != 0) {
    py().PyErr_Clear();
    return all;
  }
  const Opcodes known = opcodes();
  if (known.extended_arg == 0) return all;
  std::vector<bool> loaded(all.size());
  auto mark = [&](unsigned variable) {
    if (variable < loaded.size()) loaded[variable] = true;
  };
  unsigned extended = 0;
  for (Py_ssize_t i = 0; i + 1 < size; i += 2) {
    auto opcode = static_cast<unsigned char>(text[i]);
    unsigned argument = extended << 8 | static_cast<unsigned char>(text[i + 1]);
    extended = opcode == known.extended_arg ? argument : 0;
    if (known.locals[opcode] == 1) mark(argument);
    if (known.locals[opcode] == 2) {
      mark(argument >> 4);
      mark(argument & 15);
    }
  }
  return loaded;
}

}  // namespace

Signature signature_of(PyObject* handler) {
  Signature found;
  PyRef code(py().PyObject_GetAttrString(handler, "__code__"));
  if (!code) {
    // A method, a class or a partial: its parameters are its own affair.
    py().PyErr_Clear();
    found.takes_any = true;
    return found;
  }
  constexpr long kVarArgs = 4;  // inspect.CO_VARARGS
  found.count = static_cast<int>(attribute(code.get(), "co_argcount"));
  found.takes_any = (attribute(code.get(), "co_flags") & kVarArgs) != 0;
  PyRef variables(py().PyObject_GetAttrString(code.get(), "co_varnames"));
  for (int i = 0; variables && i < found.count; ++i) {
    PyObject* name = py().PyTuple_GetItem(variables.get(), i);
    const char* text = name == nullptr ? nullptr : py().PyUnicode_AsUTF8AndSize(name, nullptr);
    if (text == nullptr)
      py().PyErr_Clear();
    else if (std::string_view(text).contains("callchain"))  // "common_callchain", or "callchain"
      found.takes_chain = true;
  }
  found.uses = loaded_parameters(code.get(), found.count);
  return found;
}

Result<Interpreter> Interpreter::start(const InterpreterSetup& setup) {
  TRY(load_python());
  ::setenv("PERF_EXEC_PATH", setup.exec_path.c_str(), 1);
  add_context_module();
  py().Py_InitializeEx(1);
  find_python_objects();
  // Now, so that it is the library's own: soon files beside the script have its names first.
  if (!PyRef(py().PyImport_ImportModule(kOpcodeModule))) py().PyErr_Clear();
  set_arguments(setup);
  give_config(setup.config);
  Interpreter interpreter(setup.script);
  TRY(add_helper_modules());
  return interpreter;
}

Interpreter::~Interpreter() {
  if (is_running_) py().Py_FinalizeEx();
}

PyObject* Interpreter::main_dict() {
  return py().PyModule_GetDict(py().PyImport_AddModule("__main__"));
}

Result<> Interpreter::run_file(const PyRef& context) {
  MappedFile file = TRY(MappedFile::open(script_));
  std::string source(as_text(file.bytes()));
  if (source.find('\0') != std::string::npos)
    return fail(ErrorCode::kFailed, "{}: not a Python script: it contains NUL bytes", script_);
  asks_for_places_ = source.find("perf_sample_insn") != std::string::npos ||
                     source.find("perf_sample_src") != std::string::npos;
  PyObject* globals = main_dict();
  put(globals, "__file__", path_object(script_));
  put(globals, "perf_script_context", context);
  // Tracebacks show this name.
  PyRef code(py().Py_CompileStringExFlags(source.c_str(), printable(script_).c_str(), Py_file_input,
                                          nullptr, -1));
  if (!code) return raised("it cannot be compiled");
  PyRef result(py().PyEval_EvalCode(code.get(), globals, globals));
  if (!result) return raised("it cannot be started");
  return {};
}

PyRef Interpreter::handler(const char* name) const {
  PyObject* found = py().PyDict_GetItemString(main_dict(), name);
  if (found == nullptr || py().PyCallable_Check(found) == 0) return {};
  return PyRef::share(found);
}

bool Interpreter::is_set(const char* name) const {
  PyObject* found = py().PyDict_GetItemString(main_dict(), name);
  return found != nullptr && py().PyObject_IsTrue(found) == 1;
}

Result<> Interpreter::call(PyObject* handler, std::string_view name,
                           std::span<PyObject* const> arguments) {
  PyRef result(py().PyObject_VectorcallDict(handler, arguments.data(), arguments.size(), nullptr));
  if (!result) return raised(fmt::format("{} failed", name));
  return {};
}

Result<> Interpreter::call_owned(PyObject* handler, std::string_view name,
                                 std::vector<PyRef> arguments) {
  std::vector<PyObject*> borrowed;
  for (const PyRef& argument : arguments) borrowed.push_back(argument ? argument.get() : py().none);
  py().PyErr_Clear();
  return call(handler, name, borrowed);
}

std::unexpected<Error> Interpreter::raised(std::string_view where) {
  if (py().PyErr_ExceptionMatches(py().system_exit) != 0) {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    py().PyErr_Fetch(&type, &value, &traceback);
    py().PyErr_NormalizeException(&type, &value, &traceback);
    PyRef own_type(type), own_value(value), own_traceback(traceback);
    PyRef code(py().PyObject_GetAttrString(value, "code"));
    exit_status_ = 0;
    if (code && code.get() != py().none) {
      long number = py().PyLong_AsLong(code.get());
      bool is_number = py().PyErr_Occurred() == nullptr;
      py().PyErr_Clear();
      exit_status_ = is_number ? static_cast<int>(number & 0xff) : 1;
      // As `python` does with `sys.exit("usage: …")`.
      if (!is_number) {
        PyRef text(py().PyObject_Str(code.get()));
        PyObject* err = py().PySys_GetObject("stderr");
        if (text && err != nullptr) {
          PyRef write(py().PyObject_GetAttrString(err, "write"));
          std::array<PyObject*, 1> words{text.get()};
          if (write) PyRef(py().PyObject_VectorcallDict(write.get(), words.data(), 1, nullptr));
          PyRef newline = text_object("\n");
          words[0] = newline.get();
          if (write) PyRef(py().PyObject_VectorcallDict(write.get(), words.data(), 1, nullptr));
        }
      }
    }
    py().PyErr_Clear();
    return fail(ErrorCode::kFailed, "{}: the script ended itself", script_);
  }
  py().PyErr_Print();
  return fail(ErrorCode::kFailed, "{}: {}: see the exception above", script_, where);
}

Result<> Interpreter::flush() {
  PyObject* out = py().PySys_GetObject("stdout");
  if (out == nullptr || out == py().none) return {};
  PyRef flush(py().PyObject_GetAttrString(out, "flush"));
  PyRef result;
  if (flush) result = PyRef(py().PyObject_VectorcallDict(flush.get(), nullptr, 0, nullptr));
  if (!result) return raised("its output cannot be written");
  return {};
}

}  // namespace sonde::python
