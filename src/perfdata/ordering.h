// Time order by rounds.
//
// The kernel writes one ring per CPU (or thread); a recorder empties them in turn, so records of
// different rings interleave out of order, but by a bounded amount: FINISHED_ROUND says that every
// ring was emptied once since the last one. Contract: a record that arrives after the end of round
// N is not older than the newest record that was in the file at the end of round N-1. So at the end
// of round N everything up to that time can be given out, sorted.
//
//   ring 0:  1 4 | 6 9 |            arrival: 1 4 2 3 |R| 6 9 5 7 |R| …
//   ring 1:  2 3 | 5 7 |            at 2nd R: out 1 2 3 4 (newest at the 1st R), keep 5 6 7 9
//
// Records with equal time keep the order of the file. Records without a time (UINT64_MAX, or 0 as
// in records that the recorder made) take that of their predecessor. A record that breaks the
// contract is given out at once and counted (loss: out_of_order).
#pragma once

#include <cstdint>

#include "perfdata/event_table.h"
#include "perfdata/record.h"
#include "perfdata/round_sorter.h"

namespace sonde {

struct TimedRecord {
  uint64_t time;  // ns; what is given out never has UINT64_MAX
  EventId event;  // of samples; of the id block for others; may be invalid
  RecordView record;
};

/// A record with its event and its time; 0 where it has none, and where it is damaged, which is
/// counted where it is used.
[[nodiscard]] TimedRecord with_time(const RecordView& record, const EventTable& events);
[[nodiscard]] inline uint64_t place_in_file(const TimedRecord& record) {
  return record.record.file_offset;
}

using RoundSorter = RoundSorterOf<TimedRecord>;

}  // namespace sonde
