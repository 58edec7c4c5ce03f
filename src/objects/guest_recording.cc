#include "objects/guest_recording.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "event/pmu/event_name.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr uint32_t kNoCpu = UINT32_MAX;
constexpr uint16_t kModeMask = abi::kMiscCpuModeMask;

/// The number in "CPU 3/KVM"; QEMU's emulator says TCG instead.
std::optional<uint32_t> virtual_cpu_named(std::string_view comm) {
  constexpr std::string_view kBegin = "CPU ";
  if (!comm.starts_with(kBegin)) return std::nullopt;
  comm.remove_prefix(kBegin.size());
  size_t slash = comm.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view accelerator = comm.substr(slash + 1);
  auto number = parse_number(comm.substr(0, slash));
  if (!number || *number >= kNoCpu || (accelerator != "KVM" && accelerator != "TCG"))
    return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// What tells of tasks, memory and gaps; samples of the guest stay with it.
bool is_copied(uint32_t type) {
  switch (type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
    case abi::kRecordComm:
    case abi::kRecordFork:
    case abi::kRecordExit:
    case abi::kRecordLost:
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
    case abi::kRecordKsymbol:
    case abi::kRecordTextPoke:
      return true;
    default:
      return false;
  }
}

template <typename Action>
void for_each_record(const Recording& recording, const Action& action) {
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) action(record);
  }
}

uint16_t guest_mode(uint16_t misc) {
  bool is_user = (misc & kModeMask) == abi::kMiscUser;
  uint16_t mode = is_user ? abi::kMiscGuestUser : abi::kMiscGuestKernel;
  return static_cast<uint16_t>((misc & ~kModeMask) | mode);
}

constexpr std::string_view kForm =
    "the guest's recording, the process that runs the guest, and, if its time stamp counter "
    "differs, the counter's offset and scale: PATH,PID[,OFFSET[,SCALE]]";

std::optional<double> scale_of(std::string_view text) {
  double scale = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !std::isfinite(scale) || scale <= 0) return std::nullopt;
  return scale;
}

}  // namespace

Result<GuestData> parse_guest_data(std::string_view text) {
  auto wrong = [&](std::string_view part, std::string_view what) {
    return fail(ErrorCode::kUsage, "--guest-data: '{}' is not {}; it takes {}", part, what, kForm);
  };
  std::vector<std::string_view> parts = split(text, ',');
  constexpr size_t kMost = 4;
  if (parts.size() < 2 || parts.size() > kMost || parts[0].empty())
    return fail(ErrorCode::kUsage, "--guest-data takes {}", kForm);
  GuestData data{.path = std::string(parts[0])};
  auto pid = parse_number(parts[1]);
  if (!pid || *pid == 0 || *pid > INT32_MAX) return wrong(parts[1], "a process");
  data.machine_pid = static_cast<uint32_t>(*pid);
  if (parts.size() > 2) {
    auto offset = parse_tsc_offset(parts[2]);
    if (!offset) return wrong(parts[2], "an offset");
    data.time_offset = *offset;
  }
  if (parts.size() > 3) {
    auto scale = scale_of(parts[3]);
    if (!scale) return wrong(parts[3], "a scale");
    data.time_scale = *scale;
  }
  return data;
}

Result<GuestRecording> GuestRecording::open(const GuestData& data, const Recording& host,
                                            bool force, Env& env) {
  OpenOptions how;
  how.force = force;
  how.stdin_fd = env.in_fd;
  GuestRecording guest(data, TRY(Recording::open(data.path, how, env.losses)));
  if (guest.recording_.byte_order() != kHostOrder)
    return fail(ErrorCode::kUnsupported,
                "{}: recorded on a machine with the other byte order: run inject there",
                guest.name());
  TRY(guest.find_virtual_cpus(host));
  TRY(guest.number_events(host));
  TRY(guest.check_ids(host));
  TRY(guest.collect(GuestClock(time_conversion_of(guest.recording_), time_conversion_of(host),
                               data.time_offset, data.time_scale)));
  return guest;
}

Result<> GuestRecording::find_virtual_cpus(const Recording& host) {
  std::map<uint32_t, uint32_t> first_cpus;  // of the process's threads
  const EventTable& events = host.events();
  for_each_record(host, [&](const RecordView& record) {
    if (record.type >= abi::kRecordUserStart) return;
    EventId event = events.of(record);
    if (!event.valid()) return;
    const SampleLayout& layout = events[event].layout;
    if (record.type == abi::kRecordComm) {
      auto comm = decode_as<CommRecord>(record, layout);
      if (!comm || comm->pid != data_.machine_pid) return;
      if (auto number = virtual_cpu_named(comm->comm)) virtual_cpus_[*number].tid = comm->tid;
    }
    SampleId id;
    if (record.type != abi::kRecordSample)
      id = decode_trailing_id(record, layout);
    else if (!decode_sample_id(record, layout, id))
      return;
    bool is_seen = id.pid == data_.machine_pid && id.has_cpu() && id.time != 0;
    if (is_seen) first_cpus.try_emplace(id.tid, id.cpu);
  });
  if (virtual_cpus_.empty())
    return fail(ErrorCode::kNotFound,
                "{}: process {} has no thread named 'CPU n/KVM' there, which would be a virtual "
                "CPU: start QEMU with -name debug-threads=on, and give its process",
                host.facts().path, data_.machine_pid);
  for (auto& [number, cpu] : virtual_cpus_) {
    by_thread_[cpu.tid] = number;
    if (auto seen = first_cpus.find(cpu.tid); seen != first_cpus.end()) cpu.host_cpu = seen->second;
  }
  return {};
}

/// The CPU of each of the guest's ids, by its ID_INDEX records.
std::map<uint64_t, uint32_t> GuestRecording::cpus_of_ids() const {
  std::map<uint64_t, uint32_t> cpus;
  for_each_record(recording_, [&](const RecordView& record) {
    if (record.type != abi::kRecordIdIndex) return;
    auto index = decode_user<IdIndexRecord>(record);
    if (!index) return;
    for (size_t i = 0; i < index->size(); ++i) {
      IdIndexRecord::Entry entry = index->entry(i);
      cpus[entry.id] = static_cast<uint32_t>(entry.cpu);
    }
  });
  return cpus;
}

Result<> GuestRecording::number_events(const Recording& host) {
  std::map<uint64_t, uint32_t> cpus = cpus_of_ids();
  uint64_t highest = 0;
  for (const EventDesc& event : host.events().all())
    for (uint64_t id : event.ids) highest = std::max(highest, id);
  for (const EventDesc& own : recording_.events().all()) {
    EventDesc event = own;
    event.ids.clear();
    for (uint64_t id : own.ids) {
      auto cpu = cpus.find(id);
      if (cpu == cpus.end() || cpu->second == kNoCpu)
        return fail(ErrorCode::kFailed,
                    "{}: it does not say which CPU id {} of {} belongs to: record all CPUs (-a)",
                    name(), id, own.name);
      if (!virtual_cpus_.contains(cpu->second))
        return fail(ErrorCode::kFailed,
                    "{}: recorded on CPU {}, but process {} has no thread 'CPU {}/KVM' in the "
                    "host's recording: give the process that runs this guest",
                    name(), cpu->second, data_.machine_pid, cpu->second);
      do ++highest;
      while (highest == 0 || host.events().by_id(highest).valid());
      event.ids.push_back(highest);
      if (new_ids_.empty()) first_id_ = id;
      new_ids_[id] = {highest, static_cast<uint32_t>(events_.size()), cpu->second};
    }
    event.attr.sample_type |= abi::kSampleIdentifier;
    event.attr.exclude_host = 1;
    event.attr.exclude_guest = 0;
    event.layout = SampleLayout(event.attr);
    event.leader = EventId(host.events().size() + events_.size());
    event.group_size = 1;
    event.group_name.clear();
    constexpr uint32_t kTracepoint = 2;
    if (event.attr.type != kTracepoint) event.name = event_name(event.attr);
    events_.push_back(std::move(event));
  }
  if (new_ids_.empty())
    return fail(ErrorCode::kFailed, "{}: its events have no ids: record with --sample-identifier",
                name());
  return {};
}

/// Readers find a record's event by its id only if all events have it in the same place.
Result<> GuestRecording::check_ids(const Recording& host) const {
  for (const EventDesc& event : recording_.events().all())
    if (!event.attr.samples(abi::kSampleTime) || event.attr.sample_id_all == 0)
      return fail(ErrorCode::kFailed, "{}: {} has no times in its records: record without -T0",
                  name(), event.name);
  for (const EventDesc& event : recording_.events().all())
    if (!event.layout.id_from_end())
      return fail(ErrorCode::kFailed,
                  "{}: {} has no ids in its records: record with --sample-identifier", name(),
                  event.name);
  const SampleLayout& guests = events_.front().layout;
  for (const EventDesc& event : host.events().all())
    if (event.layout.id_from_end() != guests.id_from_end() ||
        event.layout.id_in_sample() != guests.id_in_sample())
      return fail(ErrorCode::kFailed,
                  "{}: {} has its ids in another place than a guest's events, so that no reader "
                  "could tell them apart: record with --sample-identifier",
                  host.facts().path, event.name);
  return {};
}

Result<> GuestRecording::collect(const GuestClock& clock) {
  const EventTable& events = recording_.events();
  std::optional<uint32_t> foreign_cpu;
  for_each_record(recording_, [&](const RecordView& record) {
    if (!is_copied(record.type)) return;
    EventId event = events.of(record);
    if (!event.valid()) return;
    SampleId id = decode_trailing_id(record, events[event].layout);
    bool is_late = id.id != 0;
    if (is_late && id.has_cpu() && !virtual_cpus_.contains(id.cpu)) foreign_cpu = id.cpu;
    bool has_time = id.has_time() && id.time != 0;
    pending_.push_back({has_time ? id.time : 0, record, event});
  });
  if (foreign_cpu)
    return fail(ErrorCode::kFailed,
                "{}: recorded on CPU {}, but process {} has no thread 'CPU {}/KVM' in the host's "
                "recording: give the process that runs this guest",
                name(), *foreign_cpu, data_.machine_pid, *foreign_cpu);
  // By the guest's times: an offset may make the host's begin anew in between.
  std::ranges::stable_sort(pending_, {}, &Pending::host_ns);
  for (Pending& pending : pending_)
    if (pending.host_ns != 0) pending.host_ns = clock.to_host(pending.host_ns);
  return {};
}

std::vector<BuildIdEntry> GuestRecording::build_ids() const {
  std::vector<BuildIdEntry> entries;
  for (BuildIdEntry entry : recording_.features().build_ids) {
    entry.misc = guest_mode(entry.misc);
    entry.pid = static_cast<int32_t>(data_.machine_pid);
    entry.file = {};
    entries.push_back(std::move(entry));
  }
  return entries;
}

void GuestRecording::put_id_index(ByteBuilder& out) const {
  constexpr size_t kMostPerRecord = 1000;  // 48 bytes each, and 64 KiB for a record
  std::vector<NewId> all;
  for (const EventDesc& own : recording_.events().all())
    for (uint64_t id : own.ids) all.push_back(new_ids_.at(id));
  for (size_t first = 0; first < all.size(); first += kMostPerRecord) {
    ByteBuilder entries, guests;
    for (size_t i = first; i < std::min(all.size(), first + kMostPerRecord); ++i) {
      entries.u64(all[i].id);
      entries.u64(0);           // index: of no ring
      entries.u64(UINT64_MAX);  // CPU: seen from the host, the event belongs to a thread
      entries.u64(virtual_cpus_.at(all[i].vcpu).tid);
      guests.u64(data_.machine_pid);
      guests.u64(all[i].vcpu);
    }
    encode(IdIndexRecord{WordView(entries.view(), kHostOrder), WordView(guests.view(), kHostOrder)},
           out);
  }
}

void GuestRecording::watch(const SampleId& host_id) {
  if (host_id.pid != data_.machine_pid || !host_id.has_cpu() || host_id.time == 0) return;
  auto found = by_thread_.find(host_id.tid);
  if (found != by_thread_.end()) virtual_cpus_[found->second].host_cpu = host_id.cpu;
}

Bytes GuestRecording::until(uint64_t host_ns) {
  ByteBuilder out;
  for (; next_ < pending_.size() && pending_[next_].host_ns <= host_ns; ++next_)
    put(pending_[next_], out);
  if (out.size() == 0) return {};
  written_.push_back(std::move(out));
  return written_.back().view();
}

/// The record with another mode and another id block.
void GuestRecording::put(const Pending& pending, ByteBuilder& out) const {
  const EventDesc& own = recording_.events()[pending.event];
  SampleId id = decode_trailing_id(pending.record, own.layout);
  Bytes payload = pending.record.payload;
  size_t block = own.layout.sample_id_size();
  if (payload.size() < block) return;
  Bytes content = payload.first(payload.size() - block);

  // What ran already carries no id, and is said of the first one.
  bool is_late = id.id != 0;
  auto found = new_ids_.find(is_late ? id.id : first_id_);
  if (found == new_ids_.end()) return;
  id.id = id.stream_id = found->second.id;
  id.time = pending.host_ns;
  if (is_late && id.has_cpu()) id.cpu = virtual_cpus_.at(id.cpu).host_cpu;

  ByteBuilder changed;
  changed.bytes(content);
  if (pending.record.type == abi::kRecordLost && content.size() >= sizeof(uint64_t))
    if (auto lost = new_ids_.find(load<uint64_t>(content.data(), kHostOrder));
        lost != new_ids_.end())
      changed.patch<uint64_t>(0, lost->second.id);
  encode_trailing_id(id, events_[found->second.event].attr, changed);
  encode_raw(pending.record.type, guest_mode(pending.record.misc), changed.view(), out);
}

}  // namespace sonde
