// Where samples of the scheduler's tracepoints keep what a SchedEvent holds: looked up once per
// event, so that a record costs a few loads.
#pragma once

#include <vector>

#include "perfdata/features.h"
#include "replay/field_places.h"
#include "replay/sample_places.h"
#include "sched/sched_event.h"

namespace sonde {

/// One event of a recording.
struct EventPlaces : SamplePlaces {
  SchedKind kind = SchedKind::kOther;
  IntPlace task, next, value;
  IntPlace prev_prio, next_prio;
  TextPlace prev_comm, next_comm;  // of a wakeup or fork: next_comm is the task's

  /// False where the sample is shorter than it must be.
  [[nodiscard]] bool read_event(const RecordView& record, const SampleLayout& layout,
                                SchedEvent& event) const;
  /// To be called when the places are known.
  void find_fixed();

 private:
  void read_fixed(const std::byte* payload, ByteOrder order, SchedEvent& event) const;
  bool is_fixed_ = false;    // all samples have everything at the same places
  uint32_t fields_end_ = 0;  // of task, next and value, in the raw data
};

/// By event. Tracepoints of the scheduler whose format is not in the recording count as others.
std::vector<EventPlaces> places_of(const EventTable& events, const Features& features);

}  // namespace sonde
