// Sorting by time, round by round.
//
// The kernel writes one ring per CPU (or thread). A recorder drains the rings in turn, so records
// of different rings are out of order, but by a bounded amount: FINISHED_ROUND says that every ring
// was drained once since the previous one. Contract: a record that arrives after the end of round N
// is not older than the newest record that was in the file at the end of round N-1. So at the end
// of round N everything up to that time can be emitted, sorted.
//
//   ring 0:  1 4 | 6 9 |            arrival: 1 4 2 3 |R| 6 9 5 7 |R| …
//   ring 1:  2 3 | 5 7 |            at 2nd R: out 1 2 3 4 (newest at the 1st R), keep 5 6 7 9
//
// Records with equal times keep their file order. Records without a time (UINT64_MAX, or 0 in
// records that the recorder made) take their predecessor's. A record that breaks the contract is
// emitted at once and counted (loss: out_of_order).
#pragma once

#include <cstdint>

#include "perfdata/header/event_table.h"
#include "perfdata/read/round_sorter.h"
#include "perfdata/records/record.h"

namespace sonde {

struct TimedRecord {
  uint64_t time;  // ns; never UINT64_MAX in what is emitted
  EventId event;  // of the sample, or of the id block of another record; may be invalid
  RecordView record;
};

/// Looks up a record's event and time. The time is 0 if there is none or if the record is damaged;
/// damage is counted where the record is used.
[[nodiscard]] TimedRecord with_time(const RecordView& record, const EventTable& events);

class RoundSorter : public RoundSorterOf<TimedRecord> {
 public:
  RoundSorter(Deliver deliver, LossLedger& losses)
      : RoundSorterOf(
            std::move(deliver), [](const TimedRecord& timed) { return timed.record.file_offset; },
            losses) {}
};

}  // namespace sonde
