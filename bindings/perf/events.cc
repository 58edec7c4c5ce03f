// The events that read_on_cpu returns: a class for each kind of record, with perf's attributes and
// perf's text.

#include <algorithm>
#include <iterator>

#include "event/print_fmt/field_format.h"
#include "objects.h"
#include "perfdata/records/sideband.h"

namespace sonde::bindings {
namespace {

using ull = unsigned long long;

/// One layout for all classes; each shows the members that its records have.
struct EventObject {
  PyObject_HEAD ull sample_ip, sample_time, sample_addr, sample_id, sample_stream_id, sample_period;
  int sample_pid, sample_tid;
  unsigned sample_cpu;
  unsigned type, misc;
  unsigned pid, ppid, tid, ptid;
  ull time, id, stream_id, lost, start, length, offset;
  unsigned other_pid, other_tid;
  PyObject* text;   // comm, filename
  PyObject* raw;    // bytes of a tracepoint's fields
  PyObject* evsel;  // whose event it is
};

EventObject& event_of(PyObject* object) {
  return *reinterpret_cast<EventObject*>(object);
}

PyTypeObject* mmap_type = nullptr;
PyTypeObject* task_type = nullptr;
PyTypeObject* comm_type = nullptr;
PyTypeObject* throttle_type = nullptr;
PyTypeObject* lost_type = nullptr;
PyTypeObject* read_type = nullptr;
PyTypeObject* sample_type = nullptr;
PyTypeObject* switch_type = nullptr;

#define MEMBER(name, kind, field, text)                      \
  PyMemberDef {                                              \
    name, kind, offsetof(EventObject, field), READONLY, text \
  }

#define SAMPLE_MEMBERS                                                                          \
  MEMBER("evsel", T_OBJECT, evsel, "the event that it belongs to"),                             \
      MEMBER("type", T_UINT, type, "kind of record: RECORD_*"),                                 \
      MEMBER("sample_ip", T_ULONGLONG, sample_ip, "instruction pointer"),                       \
      MEMBER("sample_pid", T_INT, sample_pid, "process; -1: not recorded"),                     \
      MEMBER("sample_tid", T_INT, sample_tid, "thread; -1: not recorded"),                      \
      MEMBER("sample_time", T_ULONGLONG, sample_time, "in ns"),                                 \
      MEMBER("sample_addr", T_ULONGLONG, sample_addr, "data address"),                          \
      MEMBER("sample_id", T_ULONGLONG, sample_id, "id of the event"),                           \
      MEMBER("sample_stream_id", T_ULONGLONG, sample_stream_id, "id of the event on that CPU"), \
      MEMBER("sample_period", T_ULONGLONG, sample_period, "events since the last sample"),      \
      MEMBER("sample_cpu", T_UINT, sample_cpu, "CPU; 4294967295: not recorded")
#define END_OF_MEMBERS        \
  PyMemberDef {               \
    nullptr, 0, 0, 0, nullptr \
  }

PyMemberDef mmap_members[] = {SAMPLE_MEMBERS,
                              MEMBER("misc", T_UINT, misc, "bits of the record's header"),
                              MEMBER("pid", T_UINT, pid, "process"),
                              MEMBER("tid", T_UINT, tid, "thread"),
                              MEMBER("start", T_ULONGLONG, start, "first address"),
                              MEMBER("len", T_ULONGLONG, length, "bytes"),
                              MEMBER("pgoff", T_ULONGLONG, offset, "offset in the file, in bytes"),
                              MEMBER("filename", T_OBJECT, text, "what is mapped"),
                              END_OF_MEMBERS};
PyMemberDef task_members[] = {SAMPLE_MEMBERS,
                              MEMBER("pid", T_UINT, pid, "process"),
                              MEMBER("ppid", T_UINT, ppid, "parent process"),
                              MEMBER("tid", T_UINT, tid, "thread"),
                              MEMBER("ptid", T_UINT, ptid, "parent thread"),
                              MEMBER("time", T_ULONGLONG, time, "in ns"),
                              END_OF_MEMBERS};
PyMemberDef comm_members[] = {
    SAMPLE_MEMBERS, MEMBER("pid", T_UINT, pid, "process"), MEMBER("tid", T_UINT, tid, "thread"),
    MEMBER("comm", T_OBJECT, text, "the thread's new name"), END_OF_MEMBERS};
PyMemberDef throttle_members[] = {
    SAMPLE_MEMBERS, MEMBER("time", T_ULONGLONG, time, "in ns"),
    MEMBER("id", T_ULONGLONG, id, "id of the event"),
    MEMBER("stream_id", T_ULONGLONG, stream_id, "id of the event on that CPU"), END_OF_MEMBERS};
PyMemberDef lost_members[] = {SAMPLE_MEMBERS, MEMBER("id", T_ULONGLONG, id, "id of the event"),
                              MEMBER("lost", T_ULONGLONG, lost, "records that were dropped"),
                              END_OF_MEMBERS};
PyMemberDef read_members[] = {SAMPLE_MEMBERS, MEMBER("pid", T_UINT, pid, "process"),
                              MEMBER("tid", T_UINT, tid, "thread"), END_OF_MEMBERS};
PyMemberDef sample_members[] = {SAMPLE_MEMBERS, END_OF_MEMBERS};
PyMemberDef switch_members[] = {
    SAMPLE_MEMBERS,
    MEMBER("next_prev_pid", T_UINT, other_pid, "process switched to or from, on a whole CPU"),
    MEMBER("next_prev_tid", T_UINT, other_tid, "thread switched to or from, on a whole CPU"),
    END_OF_MEMBERS};

PyObject* text_of(PyObject* self, const std::string& text) {
  (void)self;
  return text_object(text);
}

std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* chars = text == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(text, &size);
  if (chars == nullptr) return PyErr_Clear(), std::string_view();
  return {chars, static_cast<size_t>(size)};
}

/// As C's printf has it for %#llx: 0 has no prefix.
std::string hex(ull number) {
  return number == 0 ? "0" : fmt::format("{:#x}", number);
}

PyObject* mmap_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(
      self, fmt::format("{{ type: mmap, pid: {}, tid: {}, start: {}, length: {}, offset: {}, "
                        "filename: {} }}",
                        e.pid, e.tid, hex(e.start), hex(e.length), hex(e.offset), utf8(e.text)));
}

PyObject* task_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(self, fmt::format("{{ type: {}, pid: {}, ppid: {}, tid: {}, ptid: {}, time: {}}}",
                                   e.type == abi::kRecordFork ? "fork" : "exit", e.pid, e.ppid,
                                   e.tid, e.ptid, e.time));
}

PyObject* comm_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(self, fmt::format("{{ type: comm, pid: {}, tid: {}, comm: {} }}", e.pid, e.tid,
                                   utf8(e.text)));
}

PyObject* throttle_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(
      self, fmt::format("{{ type: {}throttle, time: {}, id: {}, stream_id: {} }}",
                        e.type == abi::kRecordThrottle ? "" : "un", e.time, e.id, e.stream_id));
}

PyObject* lost_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(self, fmt::format("{{ type: lost, id: {}, lost: {} }}", hex(e.id), hex(e.lost)));
}

PyObject* read_text(PyObject* self) {
  const EventObject& e = event_of(self);
  return text_of(self, fmt::format("{{ type: read, pid: {}, tid: {} }}", e.pid, e.tid));
}

PyObject* sample_text(PyObject* self) {
  return text_of(self, "{ type: sample }");
}

PyObject* switch_text(PyObject* self) {
  const EventObject& e = event_of(self);
  bool out = (e.misc & abi::kMiscSwitchOut) != 0;
  return text_of(self, fmt::format("{{ type: context_switch, next_prev_pid: {}, next_prev_tid: {}, "
                                   "switch_out: {} }}",
                                   e.other_pid, e.other_tid, out ? 1 : 0));
}

void free_event(PyObject* self) {
  EventObject& event = event_of(self);
  Py_CLEAR(event.text);
  Py_CLEAR(event.raw);
  Py_CLEAR(event.evsel);
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r'); });
}

/// As perf has it, only signed fields of eight bytes can be negative (docs/python-module.md).
PyObject* field_object(const TracepointField& field, Bytes raw) {
  if (field.is_array || field.is_dynamic) {
    std::string_view chars = as_text(field_bytes(field, raw, kHostOrder));
    std::string_view text = chars.substr(0, chars.find('\0'));
    if (field.is_string && is_printable(text)) return text_object(text);
    return PyByteArray_FromStringAndSize(chars.data(), static_cast<Py_ssize_t>(chars.size()));
  }
  uint64_t number = field_number(field, raw, kHostOrder).value_or(0);
  if (field.size >= 8)
    return field.is_signed ? PyLong_FromLongLong(static_cast<int64_t>(number))
                           : PyLong_FromUnsignedLongLong(number);
  return PyLong_FromUnsignedLongLong(number & ((uint64_t{1} << (8 * field.size)) - 1));
}

/// The fields of tracepoints are attributes; they hide attributes of the same name.
PyObject* sample_attribute(PyObject* self, PyObject* name) {
  const EventObject& event = event_of(self);
  if (event.raw != nullptr && event.evsel != nullptr)
    if (const TracepointFormat* format = unbox<KernelEvent>(event.evsel).format())
      if (const TracepointField* field = format->field(utf8(name))) {
        char* bytes = nullptr;
        Py_ssize_t size = 0;
        if (PyBytes_AsStringAndSize(event.raw, &bytes, &size) != 0) return nullptr;
        return field_object(*field, as_bytes({bytes, static_cast<size_t>(size)}));
      }
  return PyObject_GenericGetAttr(self, name);
}

PyTypeObject* add_event_type(PyObject* module, const char* attribute, const char* name,
                             const char* text, PyMemberDef* members, reprfunc repr,
                             getattrofunc attribute_of = PyObject_GenericGetAttr) {
  PyType_Slot slots[] = {{Py_tp_dealloc, slot(&free_event)},
                         {Py_tp_members, members},
                         {Py_tp_repr, slot(repr)},
                         {Py_tp_getattro, slot(attribute_of)},
                         {Py_tp_doc, const_cast<char*>(text)},
                         {0, nullptr}};
  std::string full_name = std::string("perf.") + name;
  PyType_Spec spec = {full_name.c_str(), sizeof(EventObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return add_type(module, spec, attribute);
}

EventObject* new_event(PyTypeObject* type, const EventRecord& record, PyObject* evsel) {
  auto* event = reinterpret_cast<EventObject*>(PyType_GenericAlloc(type, 0));
  if (event == nullptr) return nullptr;
  event->type = record.view.type;
  event->misc = record.view.misc;
  Py_XINCREF(evsel);
  event->evsel = evsel;
  return event;
}

void put_id(EventObject& event, const SampleId& id, KernelEvent& owner) {
  const abi::EventAttr& attr = owner.attr();
  event.sample_pid = static_cast<int>(id.pid);
  event.sample_tid = static_cast<int>(id.tid);
  event.sample_time = id.time;
  event.sample_cpu = id.cpu;
  bool has_id = attr.samples(abi::kSampleId | abi::kSampleIdentifier);
  event.sample_id = has_id ? id.id : UINT64_MAX;
  event.sample_stream_id = attr.samples(abi::kSampleStreamId) ? id.stream_id : UINT64_MAX;
  event.sample_period = attr.sample_period;
}

bool put(EventObject& event, const EventRecord& record, const Sample& sample) {
  put_id(event, sample.id, *record.event);
  event.sample_ip = sample.ip;
  event.sample_addr = sample.addr;
  event.sample_period = sample.period;
  if (record.event->attr().type == abi::kTypeTracepoint && !sample.raw.empty()) {
    std::string_view raw = as_text(sample.raw);
    event.raw = PyBytes_FromStringAndSize(raw.data(), static_cast<Py_ssize_t>(raw.size()));
    return event.raw != nullptr;
  }
  return true;
}

bool put(EventObject& event, const EventRecord&, const MmapRecord& mmap) {
  event.pid = mmap.pid;
  event.tid = mmap.tid;
  event.start = mmap.start.value;
  event.length = mmap.length;
  event.offset = mmap.offset.value;
  event.text = text_object(mmap.path);
  return event.text != nullptr;
}

bool put(EventObject& event, const EventRecord&, const CommRecord& comm) {
  event.pid = comm.pid;
  event.tid = comm.tid;
  event.text = text_object(comm.comm);
  return event.text != nullptr;
}

bool put(EventObject& event, const EventRecord&, const TaskRecord& task) {
  event.pid = task.pid;
  event.ppid = task.ppid;
  event.tid = task.tid;
  event.ptid = task.ptid;
  event.time = task.time;
  return true;
}

bool put(EventObject& event, const EventRecord&, const ThrottleRecord& throttle) {
  event.time = throttle.time;
  event.id = throttle.id;
  event.stream_id = throttle.stream_id;
  return true;
}

bool put(EventObject& event, const EventRecord&, const LostRecord& lost) {
  event.id = lost.id;
  event.lost = lost.lost;
  return true;
}

bool put(EventObject& event, const EventRecord&, const ReadRecord& read) {
  event.pid = read.pid;
  event.tid = read.tid;
  return true;
}

bool put(EventObject& event, const EventRecord&, const SwitchRecord& change) {
  event.other_pid = change.cpu_wide ? change.other_pid : 0;
  event.other_tid = change.cpu_wide ? change.other_tid : 0;
  return true;
}

/// Null without an exception: the record is shorter than it should be.
template <typename Record>
PyObject* made_of(PyTypeObject* type, const EventRecord& record, PyObject* evsel) {
  std::optional<Record> decoded;
  if constexpr (std::is_same_v<Record, Sample>) {
    if (!decode_sample(record.view, record.event->layout(), decoded.emplace())) return nullptr;
  } else {
    decoded = decode_as<Record>(record.view, record.event->layout());
  }
  if (!decoded) return nullptr;
  EventObject* event = new_event(type, record, evsel);
  if (event == nullptr) return nullptr;
  if constexpr (!std::is_same_v<Record, Sample>)
    put_id(*event, decode_trailing_id(record.view, record.event->layout()), *record.event);
  PyRef object(reinterpret_cast<PyObject*>(event));
  return put(*event, record, *decoded) ? object.release() : nullptr;
}

}  // namespace

PyObject* make_event(const EventRecord& record, PyObject* evsel) {
  switch (record.view.type) {
    case abi::kRecordSample:
      return made_of<Sample>(sample_type, record, evsel);
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return made_of<MmapRecord>(mmap_type, record, evsel);
    case abi::kRecordComm:
      return made_of<CommRecord>(comm_type, record, evsel);
    case abi::kRecordFork:
    case abi::kRecordExit:
      return made_of<TaskRecord>(task_type, record, evsel);
    case abi::kRecordThrottle:
    case abi::kRecordUnthrottle:
      return made_of<ThrottleRecord>(throttle_type, record, evsel);
    case abi::kRecordLost:
      return made_of<LostRecord>(lost_type, record, evsel);
    case abi::kRecordRead:
      return made_of<ReadRecord>(read_type, record, evsel);
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      return made_of<SwitchRecord>(switch_type, record, evsel);
    default:
      return nullptr;
  }
}

bool add_events(PyObject* module) {
  auto add = [&](PyTypeObject*& type, const char* name, const char* text, PyMemberDef* members,
                 reprfunc repr, getattrofunc attribute = PyObject_GenericGetAttr) {
    type = add_event_type(module, name, name, text, members, repr, attribute);
    return type != nullptr;
  };
  return add(mmap_type, "mmap_event", "A file was mapped.", mmap_members, &mmap_text) &&
         add(task_type, "task_event", "A thread began (fork) or ended (exit).", task_members,
             &task_text) &&
         add(comm_type, "comm_event", "A thread was renamed.", comm_members, &comm_text) &&
         add(throttle_type, "throttle_event", "The kernel paused or resumed an event.",
             throttle_members, &throttle_text) &&
         add(lost_type, "lost_event", "Records were dropped.", lost_members, &lost_text) &&
         add(read_type, "read_event", "A counter's values when a thread ended.", read_members,
             &read_text) &&
         add(sample_type, "sample_event",
             "A sample; the fields of a tracepoint are attributes, too.", sample_members,
             &sample_text, &sample_attribute) &&
         add(switch_type, "context_switch_event", "A CPU changed from one thread to another.",
             switch_members, &switch_text) &&
         PyModule_AddObjectRef(module, "switch_event", reinterpret_cast<PyObject*>(switch_type)) ==
             0;
}

}  // namespace sonde::bindings
