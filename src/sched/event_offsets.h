// Where samples of the scheduler's tracepoints have the fields of a SchedEvent: looked up once per
// event, so that a record costs a few loads.
#pragma once

#include <vector>

#include "perfdata/header/features.h"
#include "replay/fields/field_offsets.h"
#include "replay/fields/sample_offsets.h"
#include "sched/sched_event.h"

namespace sonde {

/// The field locations of one event of a recording.
struct EventOffsets : SampleOffsets {
  SchedKind kind = SchedKind::kOther;
  IntField task, next, value;
  IntField prev_prio, next_prio;
  TextPlace prev_comm, next_comm;  // for a wakeup or fork: next_comm is the task's

  /// False if the sample is too short, or its CPU number is implausible.
  [[nodiscard]] bool read_event(const RecordView& record, const SampleLayout& layout,
                                SchedEvent& event) const {
    return read_fixed(record, event) || read_any(record, layout, event);
  }
  /// To be called when the places are known.
  void find_fixed();

 private:
  [[nodiscard]] bool read_fixed(const RecordView& record, SchedEvent& event) const;
  [[nodiscard]] bool read_any(const RecordView& record, const SampleLayout& layout,
                              SchedEvent& event) const;
  bool is_fixed_ = false;    // all samples have everything at the same offsets
  uint32_t fields_end_ = 0;  // of task, next and value, in the raw data
};

/// The fast path, for complete samples in this machine's byte order; false for others.
inline bool EventOffsets::read_fixed(const RecordView& record, SchedEvent& event) const {
  size_t head_end = size_t{raw} + sizeof(uint32_t);
  if (!is_fixed_ || record.order != kHostOrder || record.payload.size() < head_end) return false;
  const std::byte* payload = record.payload.data();
  auto raw_size = load<uint32_t>(payload + raw);
  auto on_cpu = load<uint32_t>(payload + cpu);
  bool is_complete =
      raw_size > 0 && raw_size >= fields_end_ && raw_size <= record.payload.size() - head_end;
  if (!is_complete || on_cpu >= kMaxCpus) return false;
  const std::byte* fields = payload + head_end;
  auto read_int = [&](const IntField& place) -> uint64_t {
    if (place.size == 4) return load<uint32_t>(fields + place.offset);
    return place.size == 8 ? load<uint64_t>(fields + place.offset) : 0;
  };
  event.time = load<uint64_t>(payload + time);
  event.pid = load<uint32_t>(payload + tid);
  event.tid = load<uint32_t>(payload + tid + 4);
  event.cpu = static_cast<uint16_t>(on_cpu);
  event.task = static_cast<uint32_t>(read_int(task));
  event.next = static_cast<uint32_t>(read_int(next));
  event.value = read_int(value);
  return true;
}

/// By event. Scheduler tracepoints whose format is missing from the recording count as others.
std::vector<EventOffsets> places_of(const EventTable& events, const Features& features);

}  // namespace sonde
