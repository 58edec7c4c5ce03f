#include "python/context_module.h"

#include <optional>

#include "base/file.h"
#include "event/print_fmt/field_format.h"

namespace sonde::python {
namespace {

/// The context among the arguments of a call; null, and an exception, if it is not there.
ScriptContext* context_of(PyObject* arguments) {
  PyObject* first = py().PyTuple_Size(arguments) > 0 ? py().PyTuple_GetItem(arguments, 0) : nullptr;
  void* found = first == nullptr ? nullptr : py().PyCapsule_GetPointer(first, nullptr);
  if (found == nullptr) {
    py().PyErr_Clear();
    py().PyErr_SetString(py().type_error,
                         "the first argument must be the context that the handler was given");
  }
  return static_cast<ScriptContext*>(found);
}

PyObject* none() {
  return PyRef::share(py().none).release();
}

/// A field of all tracepoints; 0 if this one, or the kernel, has none.
PyObject* common_field(PyObject* arguments, const char* name) {
  ScriptContext* context = context_of(arguments);
  if (context == nullptr) return nullptr;
  std::optional<uint64_t> value;
  const TracepointField* field =
      context->format == nullptr ? nullptr : context->format->field(name);
  if (field != nullptr) value = field_number(*field, context->raw, context->order);
  return number_object(value.value_or(0)).release();
}

PyObject* common_pc(PyObject* /*self*/, PyObject* arguments) {
  return common_field(arguments, "common_preempt_count");
}
PyObject* common_flags(PyObject* /*self*/, PyObject* arguments) {
  return common_field(arguments, "common_flags");
}
PyObject* common_lock_depth(PyObject* /*self*/, PyObject* arguments) {
  return common_field(arguments, "common_lock_depth");
}

PyObject* set_itrace_options(PyObject* /*self*/, PyObject* arguments) {
  ScriptContext* context = context_of(arguments);
  if (context == nullptr) return nullptr;
  if (!context->has_traces) return signed_object(0).release();
  py().PyErr_SetString(py().runtime_error, "instruction traces are not decoded yet");
  return nullptr;
}

PyObject* sample_insn(PyObject* /*self*/, PyObject* arguments) {
  ScriptContext* context = context_of(arguments);
  if (context == nullptr) return nullptr;
  if (context->place == nullptr || context->code == nullptr) return none();
  CodeBytes::Code code = context->code->at(*context->place, CodeBytes::kMaxLength);
  size_t length = context->code->decode(code).length;
  if (length == 0) return none();
  return py().PyBytes_FromStringAndSize(reinterpret_cast<const char*>(code.bytes.data()),
                                        static_cast<Py_ssize_t>(length));
}

std::optional<std::string> line_of(const ScriptContext& context, const SourcePlace& place) {
  if (context.sources == nullptr) return std::nullopt;
  std::span<const std::string_view> lines = context.sources->of(context.place->dso, place);
  if (place.line == 0 || place.line > lines.size()) return std::nullopt;
  return std::string(lines[place.line - 1]);
}

/// (file, line) or (file, line, text); Nones if they are not known.
PyObject* source_place(PyObject* arguments, bool with_text) {
  ScriptContext* context = context_of(arguments);
  if (context == nullptr) return nullptr;
  std::optional<SourcePlace> place;
  if (context->place != nullptr && context->place->dso.valid())
    place =
        context->session->symbolizer().source_place(context->place->dso, context->place->address);
  PyRef tuple(py().PyTuple_New(with_text ? 3 : 2));
  if (!tuple) return nullptr;
  std::optional<std::string> text;
  if (place && with_text) text = line_of(*context, *place);
  py().PyTuple_SetItem(tuple.get(), 0, place ? text_object(place->file).release() : none());
  py().PyTuple_SetItem(tuple.get(), 1, place ? number_object(place->line).release() : none());
  if (with_text) py().PyTuple_SetItem(tuple.get(), 2, text ? text_object(*text).release() : none());
  return tuple.release();
}
PyObject* sample_srcline(PyObject* /*self*/, PyObject* arguments) {
  return source_place(arguments, false);
}
PyObject* sample_srccode(PyObject* /*self*/, PyObject* arguments) {
  return source_place(arguments, true);
}

constexpr const char* kConfig = "_config";  // a variable of the module

/// The text of a setting ("annotate.objdump"), or None.
PyObject* config_get(PyObject* module, PyObject* arguments) {
  PyObject* name = py().PyTuple_Size(arguments) == 1 ? py().PyTuple_GetItem(arguments, 0) : nullptr;
  const char* text = name == nullptr ? nullptr : py().PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text == nullptr) {
    py().PyErr_Clear();
    py().PyErr_SetString(py().type_error,
                         "perf_config_get takes the name of a setting, \"section.key\"");
    return nullptr;
  }
  PyRef capsule(py().PyObject_GetAttrString(module, kConfig));
  if (!capsule) return nullptr;
  void* config = py().PyCapsule_GetPointer(capsule.get(), nullptr);
  if (config == nullptr) return nullptr;
  std::optional<std::string_view> value = static_cast<const Config*>(config)->get(text);
  return value ? text_object(*value).release() : none();
}

// The interpreter refers to these tables as long as it runs, and wants them writable.
PyMethodDef methods[] = {
    {"common_pc", common_pc, METH_VARARGS, "The event's preemption count."},
    {"common_flags", common_flags, METH_VARARGS, "The event's flags, see trace_flag_str."},
    {"common_lock_depth", common_lock_depth, METH_VARARGS, "The event's depth of locks."},
    {"perf_set_itrace_options", set_itrace_options, METH_VARARGS,
     "Sets what is decoded of instruction traces."},
    {"perf_config_get", config_get, METH_VARARGS, "A setting of perfconfig, as text."},
    {"perf_sample_insn", sample_insn, METH_VARARGS, "The sampled instruction's bytes."},
    {"perf_sample_srcline", sample_srcline, METH_VARARGS, "The sample's (file, line)."},
    {"perf_sample_srccode", sample_srccode, METH_VARARGS, "The sample's (file, line, text)."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                 kContextModule,
                                 nullptr,
                                 -1,
                                 methods,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};

PyObject* make_module() {
  return py().PyModule_Create2(&module_definition, PYTHON_API_VERSION);
}

}  // namespace

void add_context_module() {
  py().PyImport_AppendInittab(kContextModule, make_module);
}

void give_config(const Config& config) {
  PyRef module(py().PyImport_ImportModule(kContextModule));
  if (!module) return py().PyErr_Clear();
  put(py().PyModule_GetDict(module.get()), kConfig,
      PyRef(py().PyCapsule_New(const_cast<Config*>(&config), nullptr, nullptr)));
}

PyRef context_object(ScriptContext& context) {
  return PyRef(py().PyCapsule_New(&context, nullptr, nullptr));
}

}  // namespace sonde::python
