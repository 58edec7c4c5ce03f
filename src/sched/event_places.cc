#include "sched/event_places.h"

#include <array>

#include "replay/kinds_of_events.h"

namespace sonde {
namespace {

constexpr std::array kKinds{
    EventKind{"sched:sched_switch", SchedKind::kSwitch},
    EventKind{"sched:sched_stat_runtime", SchedKind::kRuntime},
    EventKind{"sched:sched_waking", SchedKind::kWaking},
    EventKind{"sched:sched_wakeup", SchedKind::kWakeup},
    EventKind{"sched:sched_wakeup_new", SchedKind::kWakeupNew},
    EventKind{"sched:sched_migrate_task", SchedKind::kMigrate},
    EventKind{"sched:sched_process_fork", SchedKind::kFork},
};

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
  return places_by_event<EventPlaces>(events, features, kKinds, find_fields);
}

}  // namespace sonde
