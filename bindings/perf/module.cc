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

/// An evlist of these events, to be counted.
PyObject* make_counted(EventsOnTarget list, std::vector<ParsedEvent> events) {
  for (ParsedEvent& event : events) {
    event.attr.read_format = abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning |
                             abi::kFormatId | abi::kFormatLost;
    list.events.emplace_back(make_evsel(std::move(event)));
    if (!list.events.back()) return nullptr;
  }
  return make_evlist(std::move(list));
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
  return make_counted(std::move(list), std::move(*events));
}

PyObject* parse_metrics(PyObject* /*module*/, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"metrics", "pmu", "cpus", "threads", nullptr};
  const char *text = nullptr, *pmu = nullptr;
  PyObject *cpu_map = nullptr, *thread_map = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "s|zOO", const_cast<char**>(names), &text,
                                  &pmu, &cpu_map, &thread_map) == 0)
    return nullptr;
  EventsOnTarget list;
  if (!cpus_or_all(cpu_map, list.cpus) || !threads_from(thread_map, list.threads)) return nullptr;
  auto parsed = MetricsOfEvents::parse(text, pmu != nullptr ? pmu : "");
  if (!parsed) return raise(parsed.error());
  list.metrics = std::move(parsed->first);
  return make_counted(std::move(list), std::move(parsed->second));
}

/// Texts that are empty are left out, as in perf.
bool put_text(PyObject* dict, const char* key, std::string_view text) {
  if (text.empty()) return true;
  PyRef value(text_object(text));
  return value && PyDict_SetItemString(dict, key, value.get()) == 0;
}

PyObject* metric_dict(const MetricDescription& metric) {
  PyRef dict(PyDict_New()), groups(PyList_New(0));
  if (!dict || !groups) return nullptr;
  for (const std::string& name : metric.groups) {
    PyRef group(text_object(name));
    if (!group || PyList_Append(groups.get(), group.get()) != 0) return nullptr;
  }
  bool complete = PyDict_SetItemString(dict.get(), "MetricGroup", groups.get()) == 0 &&
                  put_text(dict.get(), "MetricName", metric.name) &&
                  put_text(dict.get(), "MetricExpr", metric.formula) &&
                  put_text(dict.get(), "ScaleUnit", metric.unit) &&
                  put_text(dict.get(), "BriefDescription", metric.brief);
  return complete ? dict.release() : nullptr;
}

PyObject* metrics(PyObject* /*module*/, PyObject* /*nothing*/) {
  Result<std::vector<MetricDescription>> all = describe_metrics();
  if (!all) return raise(all.error());
  PyRef list(PyList_New(0));
  for (const MetricDescription& metric : *all) {
    PyRef dict(list ? metric_dict(metric) : nullptr);
    if (!dict || PyList_Append(list.get(), dict.get()) != 0) return nullptr;
  }
  return list.release();
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
    {"metrics", method(&metrics), METH_NOARGS,
     "metrics(): a dict for each metric that `stat -M` has: MetricName, MetricGroup (a list), "
     "MetricExpr, and ScaleUnit and BriefDescription where there are any"},
    {"parse_metrics", method(&parse_metrics), METH_VARARGS | METH_KEYWORDS,
     "parse_metrics(text, pmu=None, cpus=None, threads=None): the events that these metrics or "
     "groups of metrics take, as an evlist that computes them; on all CPUs and for any thread, "
     "unless maps are given"},
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
