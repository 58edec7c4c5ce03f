// The module `perf`: what `import perf` gives to Python programs (docs/python-module.md).

#include <linux/perf_event.h>

#include "capture/opening/cpu_map.h"
#include "event/parser/event_parser.h"
#include "objects.h"

namespace sonde::bindings {

Types& types() {
  static Types all;
  return all;
}

namespace {

PyObject* tracepoint(PyObject* /*module*/, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"sys", "name", nullptr};
  const char *system = nullptr, *name = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|zz", const_cast<char**>(names), &system,
                                  &name) == 0)
    return nullptr;
  if (system == nullptr || name == nullptr) {
    PyErr_SetString(PyExc_TypeError, "tracepoint: sys and name are wanted");
    return nullptr;
  }
  Tracefs tracefs;
  Result<uint64_t> id = tracefs.id({system, name});
  return id ? PyLong_FromUnsignedLongLong(*id) : PyLong_FromLong(-1);
}

/// Those of the argument; without one, all that are online.
bool cpus_or_all(PyObject* map, Cpus& cpus) {
  if (map != nullptr && map != Py_None) return cpus_from(map, cpus);
  Result<Cpus> online = online_cpus();
  if (!online) return raise(online.error()), false;
  cpus = std::move(*online);
  return true;
}

PyObject* parse(PyObject* /*module*/, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"events", "cpus", "threads", nullptr};
  const char* text = nullptr;
  PyObject *cpu_map = nullptr, *thread_map = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "s|OO", const_cast<char**>(names), &text,
                                  &cpu_map, &thread_map) == 0)
    return nullptr;
  EventsOnTarget list;
  if (!cpus_or_all(cpu_map, list.cpus) || !threads_from(thread_map, list.threads)) return nullptr;
  PmuCatalog pmus;
  Tracefs tracefs;
  Result<std::vector<ParsedEvent>> events =
      parse_events(text, EventSources{.pmus = pmus, .tracefs = tracefs, .tool = "perf"});
  if (!events) return raise(events.error());
  for (ParsedEvent& event : *events) {
    event.attr.read_format = abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning |
                             abi::kFormatId | abi::kFormatLost;
    list.events.emplace_back(make_evsel(std::move(event)));
    if (!list.events.back()) return nullptr;
  }
  return make_evlist(std::move(list));
}

PyObject* pmus(PyObject* /*module*/, PyObject* /*nothing*/) {
  return make_pmus();
}

struct Constant {
  const char* name;
  long value;
};

constexpr Constant kConstants[] = {
#define CONSTANT(name) {#name, static_cast<long>(PERF_##name)},
#include "constants.def"
#undef CONSTANT
};

bool add_constants(PyObject* module) {
  for (const Constant& constant : kConstants)
    if (PyModule_AddIntConstant(module, constant.name, constant.value) != 0) return false;
  return true;
}

PyMethodDef functions[] = {
    {"tracepoint", method(&tracepoint), METH_VARARGS | METH_KEYWORDS,
     "tracepoint(sys, name): the config of that tracepoint; -1: there is none"},
    {"parse_events", method(&parse), METH_VARARGS | METH_KEYWORDS,
     "parse_events(text, cpus=None, threads=None): the events that `record -e text` means, as an "
     "evlist; on all CPUs and for any thread, unless maps are given"},
    {"pmus", method(&pmus), METH_NOARGS, "pmus(): the PMUs of this machine, an iterator"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "perf",
                          "Events of the kernel: opened, counted, and read as they occur.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace sonde::bindings

PyMODINIT_FUNC PyInit_perf() {
  using namespace sonde::bindings;
  PyRef module(PyModule_Create(&definition));
  if (!module) return nullptr;
  bool complete = add_maps(module.get()) && add_events(module.get()) && add_evsel(module.get()) &&
                  add_evlist(module.get()) && add_pmus(module.get()) && add_constants(module.get());
  return complete ? module.release() : nullptr;
}
