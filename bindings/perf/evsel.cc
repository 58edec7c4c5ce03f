// evsel: one event, as perf_event_open takes it.

#include <linux/perf_event.h>

#include <array>

#include "objects.h"

namespace sonde::bindings {
namespace {

/// The arguments of perf.evsel, in perf's order; those after the first eleven are 0 or 1.
struct EvselArguments {
  unsigned type = abi::kTypeHardware;
  unsigned long long config = 0, sample_freq = 0, sample_period = 0;
  unsigned long long sample_type = abi::kSamplePeriod | abi::kSampleTid;
  unsigned long long read_format = 0;
  unsigned disabled = 0, inherit = 0, pinned = 0, exclusive = 0, exclude_user = 0,
           exclude_kernel = 0, exclude_hv = 0, exclude_idle = 0, mmap = 0, context_switch = 0,
           comm = 0, freq = 1, inherit_stat = 0, enable_on_exec = 0, task = 0, watermark = 0,
           precise_ip = 0, mmap_data = 0, sample_id_all = 1;
  unsigned wakeup_events = 0, bp_type = 0;
  unsigned long long bp_addr = 0, bp_len = 0;

  bool parse(PyObject* arguments, PyObject* keywords) {
    static const char* const names[] = {
        "type",           "config",         "sample_freq", "sample_period", "sample_type",
        "read_format",    "disabled",       "inherit",     "pinned",        "exclusive",
        "exclude_user",   "exclude_kernel", "exclude_hv",  "exclude_idle",  "mmap",
        "context_switch", "comm",           "freq",        "inherit_stat",  "enable_on_exec",
        "task",           "watermark",      "precise_ip",  "mmap_data",     "sample_id_all",
        "wakeup_events",  "bp_type",        "bp_addr",     "bp_len",        nullptr};
    return PyArg_ParseTupleAndKeywords(
               arguments, keywords, "|IKKKKKIIIIIIIIIIIIIIIIIIIIIKK", const_cast<char**>(names),
               &type, &config, &sample_freq, &sample_period, &sample_type, &read_format, &disabled,
               &inherit, &pinned, &exclusive, &exclude_user, &exclude_kernel, &exclude_hv,
               &exclude_idle, &mmap, &context_switch, &comm, &freq, &inherit_stat, &enable_on_exec,
               &task, &watermark, &precise_ip, &mmap_data, &sample_id_all, &wakeup_events, &bp_type,
               &bp_addr, &bp_len) != 0;
  }

  void apply(abi::EventAttr& attr) const {
    attr.type = type;
    attr.config = config;
    attr.sample_period = sample_period != 0 ? sample_period : sample_freq;
    attr.sample_type = sample_type;
    attr.read_format = read_format;
#define APPLY(name) attr.name = name & 1
    APPLY(disabled), APPLY(inherit), APPLY(pinned), APPLY(exclusive), APPLY(exclude_user);
    APPLY(exclude_kernel), APPLY(exclude_hv), APPLY(exclude_idle), APPLY(mmap);
    APPLY(context_switch), APPLY(comm), APPLY(freq), APPLY(inherit_stat), APPLY(enable_on_exec);
    APPLY(task), APPLY(watermark), APPLY(mmap_data), APPLY(sample_id_all);
#undef APPLY
    attr.precise_ip = precise_ip & 3;
    attr.wakeup_events = wakeup_events;
    attr.bp_type = bp_type;
    attr.bp_addr = bp_addr;
    attr.bp_len = bp_len;
  }
};

std::string name_of(const KernelEvent& event) {
  if (!event.parsed.name.empty()) return event.parsed.name;
  return fmt::format("type {}, config {:#x}", event.parsed.attr.type, event.parsed.attr.config);
}

int evsel_init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  EvselArguments given;
  if (!given.parse(arguments, keywords)) return -1;
  if (given.sample_freq != 0 && given.sample_period != 0) {
    PyErr_SetString(PyExc_ValueError, "evsel: sample_freq and sample_period: give one of them");
    return -1;
  }
  given.apply(unbox<KernelEvent>(self).attr());
  return 0;
}

PyObject* evsel_open(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"cpus", "threads", "group", "inherit", nullptr};
  PyObject *cpu_map = nullptr, *thread_map = nullptr;
  int group = 0, inherit = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOii", const_cast<char**>(names), &cpu_map,
                                  &thread_map, &group, &inherit) == 0)
    return nullptr;
  Cpus cpus;
  Threads threads;
  if (!cpus_from(cpu_map, cpus) || !threads_from(thread_map, threads)) return nullptr;
  auto& event = unbox<KernelEvent>(self);
  event.attr().inherit = inherit != 0;
  if (SysResult<void> done = event.open(std::move(cpus), std::move(threads)); !done)
    return raise_errno(done.error(), "evsel.open: " + name_of(event));
  Py_RETURN_NONE;
}

PyObject* evsel_close(PyObject* self, PyObject* /*unused*/) {
  unbox<KernelEvent>(self).close();
  Py_RETURN_NONE;
}

PyObject* evsel_cpus(PyObject* self, PyObject* /*unused*/) {
  return make_cpu_map(unbox<KernelEvent>(self).cpus());
}

PyObject* evsel_threads(PyObject* self, PyObject* /*unused*/) {
  return make_thread_map(unbox<KernelEvent>(self).threads());
}

PyObject* evsel_read(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"cpu", "thread", nullptr};
  int cpu = -1, thread = -1;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "ii", const_cast<char**>(names), &cpu,
                                  &thread) == 0)
    return nullptr;
  auto& event = unbox<KernelEvent>(self);
  SysResult<CounterValue> value = event.read(cpu, thread);
  if (!value)
    return raise_errno(value.error(), fmt::format("evsel.read: {} on CPU {} for thread {}",
                                                  name_of(event), cpu, thread));
  PyObject* object = box_new<CounterValue>(types().counts_values, nullptr, nullptr);
  if (object != nullptr) unbox<CounterValue>(object) = *value;
  return object;
}

PyObject* evsel_text(PyObject* self) {
  return text_object("evsel(" + name_of(unbox<KernelEvent>(self)) + ")");
}

PyObject* get_tracking(PyObject* self, void* /*unused*/) {
  return PyBool_FromLong(unbox<KernelEvent>(self).tracks);
}

int set_tracking(PyObject* self, PyObject* value, void* /*unused*/) {
  int is_true = value == nullptr ? -1 : PyObject_IsTrue(value);
  if (is_true < 0) {
    if (value == nullptr) PyErr_SetString(PyExc_AttributeError, "tracking cannot be deleted");
    return -1;
  }
  unbox<KernelEvent>(self).tracks = is_true != 0;
  return 0;
}

template <auto kMember>
PyObject* get_attr(PyObject* self, void* /*unused*/) {
  return PyLong_FromUnsignedLongLong(unbox<KernelEvent>(self).attr().*kMember);
}

template <auto kMember>
PyObject* get_count(PyObject* self, void* /*unused*/) {
  return PyLong_FromUnsignedLongLong(unbox<CounterValue>(self).*kMember);
}

PyObject* get_values(PyObject* self, void* /*unused*/) {
  const auto& count = unbox<CounterValue>(self);
  return Py_BuildValue("[KKKKK]", count.value, count.enabled, count.running, count.id, count.lost);
}

bool add_counts_values(PyObject* module) {
  static PyGetSetDef members[] = {
      {"val", &get_count<&CounterValue::value>, nullptr, "counted since the last read", nullptr},
      {"ena", &get_count<&CounterValue::enabled>, nullptr, "ns for which it was enabled", nullptr},
      {"run", &get_count<&CounterValue::running>, nullptr, "ns for which it counted", nullptr},
      {"id", &get_count<&CounterValue::id>, nullptr, "the event's id", nullptr},
      {"lost", &get_count<&CounterValue::lost>, nullptr, "samples dropped so far", nullptr},
      {"values", &get_values, nullptr, "[val, ena, run, id, lost]", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, slot(&box_free<CounterValue>)},
                         {Py_tp_getset, members},
                         {Py_tp_doc, const_cast<char*>("What a counter has counted.")},
                         {0, nullptr}};
  PyType_Spec spec = {"perf.counts_values", sizeof(Boxed<CounterValue>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  types().counts_values = add_type(module, spec, "counts_values");
  return types().counts_values != nullptr;
}

}  // namespace

PyObject* make_evsel(ParsedEvent event) {
  PyObject* object = box_new<KernelEvent>(types().evsel, nullptr, nullptr);
  if (object != nullptr) unbox<KernelEvent>(object).parsed = std::move(event);
  return object;
}

bool add_evsel(PyObject* module) {
  static PyMethodDef methods[] = {
      {"open", method(&evsel_open), METH_VARARGS | METH_KEYWORDS,
       "open(cpus, threads): opens it for each of the threads on each of the CPUs"},
      {"close", method(&evsel_close), METH_NOARGS, "close(): closes it everywhere"},
      {"cpus", method(&evsel_cpus), METH_NOARGS, "cpus(): the CPUs that it is open on"},
      {"threads", method(&evsel_threads), METH_NOARGS, "threads(): those that it is open for"},
      {"read", method(&evsel_read), METH_VARARGS | METH_KEYWORDS,
       "read(cpu, thread): what it has counted there since the last read"},
      {nullptr, nullptr, 0, nullptr}};
  using abi::EventAttr;
  static PyGetSetDef members[] = {
      {"tracking", &get_tracking, &set_tracking, "may report mmap, comm, fork and exit", nullptr},
      {"type", &get_attr<&EventAttr::type>, nullptr, "kind of event: TYPE_*", nullptr},
      {"size", &get_attr<&EventAttr::size>, nullptr, "bytes of perf_event_attr", nullptr},
      {"config", &get_attr<&EventAttr::config>, nullptr, "which event of that kind", nullptr},
      {"sample_period", &get_attr<&EventAttr::sample_period>, nullptr, "or frequency", nullptr},
      {"sample_type", &get_attr<&EventAttr::sample_type>, nullptr, "SAMPLE_*", nullptr},
      {"read_format", &get_attr<&EventAttr::read_format>, nullptr, "FORMAT_*", nullptr},
      {"wakeup_events", &get_attr<&EventAttr::wakeup_events>, nullptr, "or bytes", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, slot(&box_new<KernelEvent>)},
                         {Py_tp_dealloc, slot(&box_free<KernelEvent>)},
                         {Py_tp_init, slot(&evsel_init)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, members},
                         {Py_tp_repr, slot(&evsel_text)},
                         {Py_tp_doc, const_cast<char*>("An event.")},
                         {0, nullptr}};
  PyType_Spec spec = {"perf.evsel", sizeof(Boxed<KernelEvent>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  types().evsel = add_type(module, spec, "evsel");
  return types().evsel != nullptr && add_counts_values(module);
}

}  // namespace sonde::bindings
