#include "sched/event_offsets.h"

#include <algorithm>
#include <array>

#include "replay/fields/kinds_of_events.h"

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

void find_fields(EventOffsets& places, const TracepointFormat& format) {
  places.task = IntField::of(format, "pid");
  places.next_comm = TextPlace::of(format, "comm");
  switch (places.kind) {
    case SchedKind::kSwitch:
      places.task = IntField::of(format, "prev_pid");
      places.next = IntField::of(format, "next_pid");
      places.value = IntField::of(format, "prev_state");
      places.prev_prio = IntField::of(format, "prev_prio");
      places.next_prio = IntField::of(format, "next_prio");
      places.prev_comm = TextPlace::of(format, "prev_comm");
      places.next_comm = TextPlace::of(format, "next_comm");
      break;
    case SchedKind::kRuntime:
      places.value = IntField::of(format, "runtime");
      break;
    case SchedKind::kMigrate:
      places.value = IntField::of(format, "orig_cpu");
      places.next = IntField::of(format, "dest_cpu");
      break;
    case SchedKind::kFork:
      places.task = IntField::of(format, "child_pid");
      places.next = IntField::of(format, "parent_pid");
      places.prev_comm = TextPlace::of(format, "parent_comm");
      places.next_comm = TextPlace::of(format, "child_comm");
      break;
    default:
      break;
  }
}

}  // namespace

void EventOffsets::find_fixed() {
  is_fixed_ = is_simple && chain == kNowhere && raw != kNowhere && time != kNowhere &&
              tid != kNowhere && cpu != kNowhere;
  for (const IntField& place : {task, next, value}) {
    is_fixed_ = is_fixed_ && (place.size == 8 || place.size == 4 || place.size == 0);
    fields_end_ = std::max(fields_end_, place.offset + place.size);
  }
}

bool EventOffsets::read_any(const RecordView& record, const SampleLayout& layout,
                            SchedEvent& event) const {
  SampleHead head;
  if (!read(record, head) || head.cpu >= kMaxCpus) return false;
  event.time = head.time;
  event.pid = head.pid;
  event.tid = head.tid;
  event.cpu = static_cast<uint16_t>(head.cpu);
  Bytes fields = raw_data(record, layout);
  event.task = static_cast<uint32_t>(task.read(fields, record.order));
  event.next = static_cast<uint32_t>(next.read(fields, record.order));
  event.value = value.read(fields, record.order);
  return !fields.empty();
}

std::vector<EventOffsets> places_of(const EventTable& events, const Features& features) {
  auto all = places_by_event<EventOffsets>(events, features, kKinds, find_fields);
  for (EventOffsets& places : all) places.find_fixed();
  return all;
}

}  // namespace sonde
