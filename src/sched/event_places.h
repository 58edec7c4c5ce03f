// Where samples of the scheduler's tracepoints keep what a SchedEvent holds: looked up once per
// event, so that a record costs a few loads.
#pragma once

#include <string_view>
#include <vector>

#include "event/tracepoint_format.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"
#include "sched/sched_event.h"

namespace sonde {

/// An integer in the raw data of a sample; a field that the event hasn't reads as 0.
struct IntPlace {
  uint32_t offset = 0;
  uint32_t size = 0;

  static IntPlace of(const TracepointFormat& format, std::string_view field);
  [[nodiscard]] uint64_t read(Bytes raw, ByteOrder order) const;
};

/// A text in the raw data of a sample.
struct TextPlace {
  uint32_t offset = 0;
  uint32_t size = 0;

  static TextPlace of(const TracepointFormat& format, std::string_view field);
  [[nodiscard]] std::string_view read(Bytes raw) const;
};

/// One event of a recording.
struct EventPlaces {
  SchedKind kind = SchedKind::kOther;
  // Offsets in the payload, where all that stands before has a fixed size.
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t tid = kNowhere, time = kNowhere, cpu = kNowhere, raw = kNowhere;
  uint32_t chain = kNowhere;  // the call chain that stands before the raw data
  bool is_simple = false;     // the offsets say everything; else the sample is decoded in full
  IntPlace task, next, value;
  IntPlace prev_prio, next_prio;
  TextPlace prev_comm, next_comm;  // of a wakeup or fork: next_comm is the task's

  /// False where the sample is shorter than it must be.
  [[nodiscard]] bool read(const RecordView& record, const SampleLayout& layout,
                          SchedEvent& event) const;
  /// The raw data of a sample; empty where it has none.
  [[nodiscard]] Bytes raw_data(const RecordView& record, const SampleLayout& layout) const;
};

/// By event. Tracepoints of the scheduler whose format is not in the recording count as others.
std::vector<EventPlaces> places_of(const EventTable& events, const Features& features);

/// The record that begins at `header`.
[[nodiscard]] RecordView record_at(const std::byte* header, ByteOrder order);

}  // namespace sonde
