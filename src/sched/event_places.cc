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

}  // namespace

bool EventPlaces::read_event(const RecordView& record, const SampleLayout& layout,
                             SchedEvent& event) const {
  SampleHead head;
  if (!read(record, head)) return false;
  event.time = head.time;
  event.pid = head.pid;
  event.tid = head.tid;
  event.cpu = head.cpu;
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
    static_cast<SamplePlaces&>(places) = SamplePlaces::of(desc.attr.sample_type);
    const TracepointFormat* format = formats.of(EventId(i));
    if (format == nullptr || i > kLastEvent) continue;
    places.kind = kind_of(desc.name);
    find_fields(places, *format);
  }
  return all;
}

}  // namespace sonde
