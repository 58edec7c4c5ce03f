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
// Records with equal time keep the order of the file. Records without a time take that of their
// predecessor. A record that breaks the contract is given out at once and counted (loss:
// out_of_order).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/loss.h"
#include "perfdata/event_table.h"
#include "perfdata/record.h"

namespace sonde {

struct TimedRecord {
  uint64_t time;  // ns; UINT64_MAX is never stored
  EventId event;  // of samples; of the id block for others; may be invalid
  RecordView record;
};

/// Push records in file order; sorted ones come out through `deliver`. Pure: holds no files, keeps
/// no bytes.
class RoundSorter {
 public:
  using Deliver = std::function<void(std::span<const TimedRecord>)>;
  RoundSorter(Deliver deliver, LossLedger& losses);
  void push(const TimedRecord& record);
  void finish_round();
  /// Gives out everything that is left.
  void flush();

 private:
  Deliver deliver_;
  LossLedger& losses_;
  std::vector<TimedRecord> pending_;
  uint64_t newest_ = 0;     // seen in this round or before
  uint64_t limit_ = 0;      // newest at the end of the previous round
  uint64_t delivered_ = 0;  // newest given out
};

}  // namespace sonde
