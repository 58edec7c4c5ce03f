// evlist: events on the same CPUs and threads, with rings to read their records from.

#include <linux/perf_event.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "capture/opening/event_config.h"
#include "objects.h"

namespace sonde::bindings {
namespace {

constexpr int kDefaultPages = 128;

std::vector<KernelEvent*> events_of(const EventsOnTarget& list) {
  std::vector<KernelEvent*> events;
  for (const PyRef& event : list.events) events.push_back(&unbox<KernelEvent>(event.get()));
  return events;
}

int evlist_init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"cpus", "threads", nullptr};
  PyObject *cpus = nullptr, *threads = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "OO", const_cast<char**>(names), &cpus,
                                  &threads) == 0)
    return -1;
  auto& list = unbox<EventsOnTarget>(self);
  return cpus_from(cpus, list.cpus) && threads_from(threads, list.threads) ? 0 : -1;
}

PyObject* evlist_add(PyObject* self, PyObject* event) {
  if (PyObject_TypeCheck(event, types().evsel) == 0)
    return PyErr_Format(PyExc_TypeError, "evlist.add: a perf.evsel is wanted, not %R", event);
  auto& list = unbox<EventsOnTarget>(self);
  list.events.push_back(PyRef::share(event));
  return PyLong_FromSize_t(list.events.size());
}

PyObject* evlist_open(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"group", nullptr};
  int group = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|i", const_cast<char**>(names), &group) ==
      0)
    return nullptr;
  auto& list = unbox<EventsOnTarget>(self);
  std::vector<KernelEvent*> events = events_of(list);
  for (size_t i = 0; i < events.size(); ++i) {
    size_t leader = group != 0 ? 0 : events[i]->parsed.leader;
    const KernelEvent* above = leader < i ? events[leader] : nullptr;
    SysResult<void> done = events[i]->open(list.cpus, list.threads, above);
    if (!done) {
      for (KernelEvent* event : events) event->close();
      return raise_errno(done.error(), "evlist.open: " + events[i]->parsed.name);
    }
  }
  Py_RETURN_NONE;
}

PyObject* evlist_close(PyObject* self, PyObject* /*unused*/) {
  auto& list = unbox<EventsOnTarget>(self);
  list.rings = EventRings();
  for (KernelEvent* event : events_of(list)) event->close();
  Py_RETURN_NONE;
}

PyObject* evlist_mmap(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"pages", "overwrite", nullptr};
  int pages = kDefaultPages, overwrite = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|ii", const_cast<char**>(names), &pages,
                                  &overwrite) == 0)
    return nullptr;
  if (overwrite != 0) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "evlist.mmap: overwrite: rings that overwrite themselves are not read here");
    return nullptr;
  }
  if (pages <= 0 || !std::has_single_bit(static_cast<unsigned>(pages)))
    return PyErr_Format(PyExc_ValueError, "evlist.mmap: pages=%d: a power of two is wanted", pages);
  auto& list = unbox<EventsOnTarget>(self);
  if (list.events.empty()) {
    PyErr_SetString(PyExc_ValueError, "evlist.mmap: no events: add and open some first");
    return nullptr;
  }
  SysResult<void> done = list.rings.map(events_of(list), static_cast<size_t>(pages));
  if (!done) return raise_errno(done.error(), "evlist.mmap");
  Py_RETURN_NONE;
}

PyObject* evlist_poll(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"timeout", nullptr};
  int timeout = -1;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|i", const_cast<char**>(names), &timeout) ==
      0)
    return nullptr;
  std::vector<pollfd> waited;
  for (int fd : unbox<EventsOnTarget>(self).rings.descriptors())
    waited.push_back({fd, POLLIN | POLLERR | POLLHUP, 0});
  int ready = 0, error = 0;
  Py_BEGIN_ALLOW_THREADS ready = ::poll(waited.data(), waited.size(), timeout);
  error = errno;
  Py_END_ALLOW_THREADS if (ready >= 0) return PyLong_FromLong(ready);
  if (error == EINTR) return PyErr_CheckSignals() != 0 ? nullptr : PyLong_FromLong(0);
  return raise_errno(error, "evlist.poll");
}

PyObject* evlist_get_pollfd(PyObject* self, PyObject* /*unused*/) {
  PyRef files(PyList_New(0));
  if (!files) return nullptr;
  for (int fd : unbox<EventsOnTarget>(self).rings.descriptors()) {
    PyRef file(PyFile_FromFd(fd, "perf", "r", -1, nullptr, nullptr, nullptr, 0));
    if (!file || PyList_Append(files.get(), file.get()) != 0) return nullptr;
  }
  return files.release();
}

/// The evsel object of an event of the list.
PyObject* object_of(const EventsOnTarget& list, const KernelEvent* event) {
  for (const PyRef& object : list.events)
    if (&unbox<KernelEvent>(object.get()) == event) return object.get();
  return nullptr;
}

PyObject* evlist_read_on_cpu(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"cpu", "sample_id_all", nullptr};
  int cpu = 0, sample_id_all = 1;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "i|i", const_cast<char**>(names), &cpu,
                                  &sample_id_all) == 0)
    return nullptr;
  auto& list = unbox<EventsOnTarget>(self);
  if (!list.rings.has(cpu))
    return PyErr_Format(PyExc_TypeError, "Unknown CPU '%d': no ring was mapped for it", cpu);
  // Records without a class, and damaged ones, are passed over.
  while (std::optional<EventRecord> record = list.rings.next(cpu)) {
    PyObject* event = make_event(*record, object_of(list, record->event));
    if (event != nullptr || PyErr_Occurred() != nullptr) return event;
  }
  Py_RETURN_NONE;
}

PyObject* control_all(PyObject* self, unsigned long request, std::string_view what) {
  for (KernelEvent* event : events_of(unbox<EventsOnTarget>(self)))
    if (SysResult<void> done = event->control(request); !done)
      return raise_errno(done.error(), what);
  Py_RETURN_NONE;
}

PyObject* evlist_enable(PyObject* self, PyObject* /*unused*/) {
  return control_all(self, PERF_EVENT_IOC_ENABLE, "evlist.enable");
}

PyObject* evlist_disable(PyObject* self, PyObject* /*unused*/) {
  return control_all(self, PERF_EVENT_IOC_DISABLE, "evlist.disable");
}

/// As `record` opens events by default, without buffering and inheritance.
PyObject* evlist_config(PyObject* self, PyObject* /*unused*/) {
  auto& list = unbox<EventsOnTarget>(self);
  if (list.events.empty()) Py_RETURN_NONE;
  std::vector<KernelEvent*> events = events_of(list);
  EventList parsed;
  for (KernelEvent* event : events) parsed.edit().push_back(event->parsed);
  for (size_t i = 0; i < events.size(); ++i)
    if (parsed[i].leader > i) parsed.edit()[i].leader = static_cast<uint32_t>(i);
  SamplingOptions options;
  options.no_inherit = options.no_buffering = true;
  Target target{.kind = Target::Kind::kCpus, .cpus = list.cpus, .threads = {}};
  if (list.cpus == Cpus{-1}) target.kind = Target::Kind::kTasks;
  ConfigContext context{.target = target, .rate = {}};
  std::vector<CaptureEvent> configured = configure_events(parsed, options, context);
  bool tracked = false;
  for (size_t i = 0; i < events.size(); ++i) {
    abi::EventAttr attr = configured[i].attr();
    bool tracks = events[i]->tracks && !std::exchange(tracked, tracked || events[i]->tracks);
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = tracks;
    attr.ksymbol = attr.bpf_event = 0;
    if (!tracks) attr.mmap_data = 0;
    events[i]->attr() = attr;
  }
  Py_RETURN_NONE;
}

PyObject* evlist_metrics(PyObject* self, PyObject* /*unused*/) {
  PyRef list(PyList_New(0));
  for (const std::string& name : unbox<EventsOnTarget>(self).metrics.names()) {
    PyRef text(list ? text_object(name) : nullptr);
    if (!text || PyList_Append(list.get(), text.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* evlist_compute_metric(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"metric", "cpu", "thread", nullptr};
  const char* metric = nullptr;
  int cpu = 0, thread = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "sii", const_cast<char**>(names), &metric,
                                  &cpu, &thread) == 0)
    return nullptr;
  auto& list = unbox<EventsOnTarget>(self);
  const std::vector<std::string>& known = list.metrics.names();
  if (std::ranges::find(known, metric) == known.end())
    return PyErr_Format(PyExc_TypeError, "Unknown metric '%s': metrics() has this evlist's",
                        metric);
  SysResult<double> value = list.metrics.compute(metric, events_of(list), cpu, thread);
  if (value) return PyFloat_FromDouble(*value);
  if (value.error() == ENOENT)
    return PyErr_Format(PyExc_TypeError,
                        "Unknown CPU '%d' or thread '%d' for metric '%s': its events are not open "
                        "there",
                        cpu, thread, metric);
  return raise_errno(value.error(), "evlist.compute_metric");
}

PyObject* evlist_all_cpus(PyObject* self, PyObject* /*unused*/) {
  return make_cpu_map(unbox<EventsOnTarget>(self).cpus);
}

Py_ssize_t evlist_length(PyObject* self) {
  return static_cast<Py_ssize_t>(unbox<EventsOnTarget>(self).events.size());
}

PyObject* evlist_item(PyObject* self, Py_ssize_t index) {
  const auto& events = unbox<EventsOnTarget>(self).events;
  if (index >= 0 && static_cast<size_t>(index) < events.size())
    return PyRef::share(events[static_cast<size_t>(index)].get()).release();
  PyErr_SetString(PyExc_IndexError, "evlist index out of range");
  return nullptr;
}

PyObject* evlist_text(PyObject* self) {
  std::string text;
  for (KernelEvent* event : events_of(unbox<EventsOnTarget>(self)))
    text += (text.empty() ? "" : ",") + event->parsed.name;
  return text_object("evlist([" + text + "])");
}

}  // namespace

PyObject* make_evlist(EventsOnTarget target) {
  PyObject* object = box_new<EventsOnTarget>(types().evlist, nullptr, nullptr);
  if (object != nullptr) {
    auto& list = unbox<EventsOnTarget>(object);
    list.cpus = std::move(target.cpus);
    list.threads = std::move(target.threads);
    list.events = std::move(target.events);
    list.metrics = std::move(target.metrics);
  }
  return object;
}

bool add_evlist(PyObject* module) {
  constexpr int kNamed = METH_VARARGS | METH_KEYWORDS;
  static PyMethodDef methods[] = {
      {"add", method(&evlist_add), METH_O, "add(evsel): appends it; returns how many there are"},
      {"config", method(&evlist_config), METH_NOARGS, "config(): for samples, as `record` does"},
      {"open", method(&evlist_open), kNamed, "open(group=0): opens all events"},
      {"close", method(&evlist_close), METH_NOARGS, "close(): closes all events, and their rings"},
      {"mmap", method(&evlist_mmap), kNamed, "mmap(pages=128): maps rings for open events"},
      {"poll", method(&evlist_poll), kNamed, "poll(timeout=-1): waits for records; in ms"},
      {"get_pollfd", method(&evlist_get_pollfd), METH_NOARGS, "get_pollfd(): a file for each ring"},
      {"read_on_cpu", method(&evlist_read_on_cpu), kNamed,
       "read_on_cpu(cpu): the next record of that CPU, or None"},
      {"enable", method(&evlist_enable), METH_NOARGS, "enable(): lets all events count"},
      {"disable", method(&evlist_disable), METH_NOARGS, "disable(): stops them"},
      {"metrics", method(&evlist_metrics), METH_NOARGS,
       "metrics(): the names of the metrics that its events are for"},
      {"compute_metric", method(&evlist_compute_metric), kNamed,
       "compute_metric(metric, cpu, thread): its value there, since the last call for it"},
      {"all_cpus", method(&evlist_all_cpus), METH_NOARGS, "all_cpus(): the CPUs of its events"},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, slot(&box_new<EventsOnTarget>)},
                         {Py_tp_dealloc, slot(&box_free<EventsOnTarget>)},
                         {Py_tp_init, slot(&evlist_init)},
                         {Py_tp_methods, methods},
                         {Py_sq_length, slot(&evlist_length)},
                         {Py_sq_item, slot(&evlist_item)},
                         {Py_tp_repr, slot(&evlist_text)},
                         {Py_tp_doc, const_cast<char*>("Events on the same CPUs and threads.")},
                         {0, nullptr}};
  PyType_Spec spec = {"perf.evlist", sizeof(Boxed<EventsOnTarget>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  types().evlist = add_type(module, spec, "evlist");
  return types().evlist != nullptr;
}

}  // namespace sonde::bindings
