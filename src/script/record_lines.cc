#include "script/record_lines.h"

#include "abi/record_names.h"
#include "base/printing/printable.h"
#include "perfdata/dump/dump.h"
#include "perfdata/records/user_records.h"
#include "replay/fields/guest_samples.h"

namespace sonde {
namespace {

/// The number that the session has for it.
uint32_t task_of(uint32_t recorded, const GuestCpu* guest) {
  return guest == nullptr ? recorded : guest_task(guest->guest, recorded);
}

}  // namespace

bool RecordFilter::wants(uint32_t type) const {
  switch (type) {
    case abi::kRecordComm:
    case abi::kRecordFork:
    case abi::kRecordExit:
      return tasks;
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return mmaps;
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      return switches;
    case abi::kRecordNamespaces:
      return namespaces;
    case abi::kRecordCgroup:
      return cgroups;
    case abi::kRecordKsymbol:  // code that comes and goes, as a text poke is code that changes
      return bpf || text_pokes;
    case abi::kRecordBpfEvent:
      return bpf;
    case abi::kRecordLost:
      return lost;
    case abi::kRecordTextPoke:
      return text_pokes;
    case abi::kRecordCallchainDeferred:
      return !merge_chains;
    case abi::kRecordFinishedRound:
      return rounds;
    case abi::kRecordAuxtraceError:
      return trace_errors;
    default:
      return false;
  }
}

bool RecordFilter::any() const {
  return tasks || mmaps || switches || namespaces || cgroups || bpf || lost || text_pokes ||
         !merge_chains || rounds || trace_errors;
}

/// Records synthesized by the recorder carry no event id: they count as the first event's.
EventId RecordLines::event_of(const OtherRecord& record) const {
  return record.event.valid() ? record.event : EventId(size_t{0});
}

SampleId RecordLines::who(const OtherRecord& record) const {
  SampleId id;
  if (record.view.type == abi::kRecordAuxtraceError) {
    id.time = record.time;
    if (auto error = decode_user<AuxtraceErrorRecord>(record.view)) id.cpu = error->cpu;
    return id;
  }
  id.pid = id.tid = id.cpu = 0;
  id.time = 0;
  if (session_.events().size() == 0) return id;
  const EventDesc& event = session_.events()[event_of(record)];
  if (event.attr.sample_id_all) return decode_trailing_id(record.view, event.layout);
  id.tid = subject(record.view, event, id);
  id.pid = id.tid;
  return id;
}

/// The thread that the record is about, as its machine numbers it, whose name is at the start of
/// the line.
uint32_t RecordLines::subject(const RecordView& record, const EventDesc& event,
                              const SampleId& id) const {
  switch (record.type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      if (auto mmap = decode_as<MmapRecord>(record, event.layout)) return mmap->tid;
      break;
    case abi::kRecordComm:
      if (auto comm = decode_as<CommRecord>(record, event.layout)) return comm->tid;
      break;
    case abi::kRecordFork:  // a new task has its parent's name
      if (auto task = decode_as<TaskRecord>(record, event.layout)) return task->ptid;
      break;
    case abi::kRecordExit:
      if (auto task = decode_as<TaskRecord>(record, event.layout)) return task->tid;
      break;
    case abi::kRecordNamespaces:
      if (auto links = decode_as<NamespacesRecord>(record, event.layout)) {
        // The recorder synthesizes existing tasks one by one, with the name last.
        const GuestCpu* guest = guest_of(record, session_.events().of(record), session_.events());
        const Machine::Thread* thread = session_.machine().thread(task_of(links->tid, guest));
        uint32_t parent = thread == nullptr ? 0 : recorded_task(thread->ppid);
        bool has_parent = thread != nullptr && (parent != 0 || links->tid == 1);
        return id.time == 0 && has_parent ? parent : links->tid;
      }
      break;
    default:
      break;
  }
  return id.tid;
}

/// A deferred user part of a call chain: a line, with its frames below like those of a sample.
void RecordLines::print_deferred_chain(const OtherRecord& record, const SampleId& who,
                                       EventId event, std::string& out) const {
  auto chain = decode_as<CallchainDeferredRecord>(record.view, session_.events()[event].layout);
  if (!chain) return;
  fmt::format_to(std::back_inserter(out), "DEFERRED CALLCHAIN [cookie: {:x}]\n", chain->cookie);
  for (size_t i = 0; i < chain->ips.size(); ++i) {
    RuntimeAddr address(chain->ips[i]);
    if (abi::is_callchain_context(address.value)) continue;
    Frame frame = session_.resolve(who.pid, record.time, address, abi::kMiscUser);
    printer_.print_frame(event, frame, out);
  }
  out += '\n';
}

namespace {

/// An error of decoding a trace, found here or by whoever wrote the recording.
void print_trace_error(const RecordView& view, bool is_shown, std::string& out) {
  auto error = decode_user<AuxtraceErrorRecord>(view);
  if (!error) return;
  constexpr uint64_t kSecond = 1'000'000'000;
  auto to = std::back_inserter(out);
  fmt::format_to(to, " {} error type {}",
                 error->type == 1 ? "instruction trace" : "unknown error type", error->type);
  if (error->format > 0 && error->time == 0)
    out += " time 0";
  else if (error->format > 0)
    fmt::format_to(to, " time {}.{:09}", error->time / kSecond, error->time % kSecond);
  fmt::format_to(to, " cpu {} pid {} tid {} ip {} code {}: {}\n", static_cast<int32_t>(error->cpu),
                 static_cast<int32_t>(error->pid), static_cast<int32_t>(error->tid),
                 dump::prefixed_hex(error->ip), error->code,
                 is_shown ? printable(error->message) : error->message);
}

}  // namespace

void RecordLines::print(const OtherRecord& record, uint64_t shown_time, std::string& out) const {
  const RecordView& view = record.view;
  StringSink body(printer_.is_shown());
  if (view.type == abi::kRecordFinishedRound) {
    out += "PERF_RECORD_FINISHED_ROUND\n";
    return;
  }
  if (view.type == abi::kRecordAuxtraceError)
    return print_trace_error(view, printer_.is_shown(), out);
  if (session_.events().size() == 0) return;
  EventId id = event_of(record);
  const EventDesc& event = session_.events()[id];
  SampleId when = who(record);
  const GuestCpu* guest = guest_of(view, id, session_.events());
  uint32_t about = task_of(subject(view, event, when), guest);
  StringId comm = session_.machine().comm_at(about, record.time);
  printer_.print_start(id, comm, when, shown_time, {view.type, view.misc}, guest, out);
  if (view.type == abi::kRecordCallchainDeferred)
    return print_deferred_chain(record, when, id, out);
  body.print("PERF_RECORD_{}", abi::record_type_name(view.type));
  if (view.type == abi::kRecordLost) {
    if (auto lost = decode_as<LostRecord>(view, event.layout)) body.print(" lost {}\n", lost->lost);
  } else {
    dump::put_kernel_record(view, event, DumpFor::kScript, body);
  }
  out += body.text();
}

}  // namespace sonde
