#include "sched/event_places.h"

#include <array>

#include "replay/trace_formats.h"

namespace sonde {
namespace {

constexpr size_t kLastEvent = UINT16_MAX - 1;  // that a SchedEvent can name

struct KindName {
  std::string_view name;
  SchedKind kind;
};
constexpr std::array kKindNames{
    KindName{"sched:sched_switch", SchedKind::kSwitch},
    KindName{"sched:sched_stat_runtime", SchedKind::kRuntime},
    KindName{"sched:sched_waking", SchedKind::kWaking},
    KindName{"sched:sched_wakeup", SchedKind::kWakeup},
    KindName{"sched:sched_wakeup_new", SchedKind::kWakeupNew},
    KindName{"sched:sched_migrate_task", SchedKind::kMigrate},
    KindName{"sched:sched_process_fork", SchedKind::kFork},
};

SchedKind kind_of(std::string_view name) {
  for (const KindName& known : kKindNames)
    if (known.name == name) return known.kind;
  return SchedKind::kOther;
}

void find_fields(EventPlaces& places, const TracepointFormat& format) {
  places.task = IntPlace::of(format, "pid");
  places.next_comm = TextPlace::of(format, "comm");
  switch (places.kind) {
    case SchedKind::kSwitch:
      places.task = IntPlace::of(format, "prev_pid");
      places.next = IntPlace::of(format, "next_pid");
      places.value = IntPlace::of(format, "prev_state");
      places.prev_prio = IntPlace::of(format, "prev_prio");
      places.next_prio = IntPlace::of(format, "next_prio");
      places.prev_comm = TextPlace::of(format, "prev_comm");
      places.next_comm = TextPlace::of(format, "next_comm");
      break;
    case SchedKind::kRuntime:
      places.value = IntPlace::of(format, "runtime");
      break;
    case SchedKind::kMigrate:
      places.value = IntPlace::of(format, "orig_cpu");
      places.next = IntPlace::of(format, "dest_cpu");
      break;
    case SchedKind::kFork:
      places.task = IntPlace::of(format, "child_pid");
      places.next = IntPlace::of(format, "parent_pid");
      places.prev_comm = TextPlace::of(format, "parent_comm");
      places.next_comm = TextPlace::of(format, "child_comm");
      break;
    default:
      break;
  }
}

/// The order of fields in a sample: perf_event_open(2), PERF_RECORD_SAMPLE.
void find_offsets(EventPlaces& places, uint64_t sample_type) {
  uint32_t at = 0;
  auto field = [&](uint64_t bit) {
    if ((sample_type & bit) == 0) return EventPlaces::kNowhere;
    return std::exchange(at, at + 8);
  };
  field(abi::kSampleIdentifier);
  field(abi::kSampleIp);
  places.tid = field(abi::kSampleTid);
  places.time = field(abi::kSampleTime);
  field(abi::kSampleAddr);
  field(abi::kSampleId);
  field(abi::kSampleStreamId);
  places.cpu = field(abi::kSampleCpu);
  field(abi::kSamplePeriod);
  if ((sample_type & abi::kSampleCallchain) != 0) places.chain = at;
  if ((sample_type & abi::kSampleRaw) != 0) places.raw = at;  // behind the call chain, if any
  places.is_simple = (sample_type & abi::kSampleRead) == 0;
}

}  // namespace

IntPlace IntPlace::of(const TracepointFormat& format, std::string_view field) {
  const TracepointField* found = format.field(field);
  bool is_integer = found != nullptr && !found->is_array &&
                    (found->size == 1 || found->size == 2 || found->size == 4 || found->size == 8);
  return is_integer ? IntPlace{found->offset, found->size} : IntPlace{};
}

uint64_t IntPlace::read(Bytes raw, ByteOrder order) const {
  if (size > raw.size() || offset > raw.size() - size) return 0;
  const std::byte* at = raw.data() + offset;
  switch (size) {
    case 4:
      return load<uint32_t>(at, order);
    case 8:
      return load<uint64_t>(at, order);
    case 2:
      return load<uint16_t>(at, order);
    case 1:
      return load<uint8_t>(at, order);
    default:
      return 0;
  }
}

TextPlace TextPlace::of(const TracepointFormat& format, std::string_view field) {
  const TracepointField* found = format.field(field);
  if (found == nullptr || !found->is_string || found->is_dynamic) return {};
  return {found->offset, found->size};
}

std::string_view TextPlace::read(Bytes raw) const {
  if (size > raw.size() || offset > raw.size() - size) return {};
  std::string_view text = as_text(raw.subspan(offset, size));
  return text.substr(0, text.find('\0'));
}

Bytes EventPlaces::raw_data(const RecordView& record, const SampleLayout& layout) const {
  if (raw == kNowhere) return {};
  if (!is_simple) {
    Sample sample;
    return decode_sample(record, layout, sample) ? sample.raw : Bytes{};
  }
  ByteCursor in(record.payload, record.order);
  in.skip(raw);
  if (chain != kNowhere) {
    uint64_t entries = in.u64();
    if (!in.fits(entries, 8)) return {};
    in.skip(entries * 8);
  }
  return in.take(in.u32());
}

bool EventPlaces::read(const RecordView& record, const SampleLayout& layout,
                       SchedEvent& event) const {
  size_t fixed = chain != kNowhere ? chain : raw;
  if (fixed == kNowhere || record.payload.size() < fixed || time == kNowhere) return false;
  const std::byte* base = record.payload.data();
  event.time = load<uint64_t>(base + time, record.order);
  event.pid = tid == kNowhere ? UINT32_MAX : load<uint32_t>(base + tid, record.order);
  event.tid = tid == kNowhere ? UINT32_MAX : load<uint32_t>(base + tid + 4, record.order);
  event.cpu = cpu == kNowhere ? 0 : load<uint32_t>(base + cpu, record.order);
  Bytes fields = raw_data(record, layout);
  event.task = static_cast<uint32_t>(task.read(fields, record.order));
  event.next = static_cast<uint32_t>(next.read(fields, record.order));
  event.value = value.read(fields, record.order);
  return !fields.empty();
}

std::vector<EventPlaces> places_of(const EventTable& events, const Features& features) {
  TraceFormats formats(events, features);
  std::vector<EventPlaces> all(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const EventDesc& desc = events[EventId(i)];
    EventPlaces& places = all[i];
    find_offsets(places, desc.attr.sample_type);
    const TracepointFormat* format = formats.of(EventId(i));
    if (format == nullptr || i > kLastEvent) continue;
    places.kind = kind_of(desc.name);
    find_fields(places, *format);
  }
  return all;
}

RecordView record_at(const std::byte* header, ByteOrder order) {
  RecordView view;
  view.type = load<uint32_t>(header, order);
  view.misc = load<uint16_t>(header + 4, order);
  auto size = load<uint16_t>(header + 6, order);
  view.payload = {header + sizeof(abi::RecordHeader), size - sizeof(abi::RecordHeader)};
  view.order = order;
  return view;
}

}  // namespace sonde
