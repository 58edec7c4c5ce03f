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
#include <functional>
#include <span>
#include <vector>

#include "base/loss.h"
#include "perfdata/event_table.h"
#include "perfdata/record.h"

namespace sonde {

struct TimedRecord {
  uint64_t time;  // ns; what is given out never has UINT64_MAX
  EventId event;  // of samples; of the id block for others; may be invalid
  RecordView record;
};

/// Push records in file order; sorted ones come out through `deliver`, many at a time. Pure: holds
/// no files, keeps no bytes: the records' memory must live until they were given out, at the latest
/// at the end of the round after the next.
class RoundSorter {
 public:
  using Deliver = std::function<void(std::span<const TimedRecord>)>;
  RoundSorter(Deliver deliver, LossLedger& losses);
  void push(const TimedRecord& record);
  void finish_round();
  /// Gives out everything that is left.
  void flush();

 private:
  struct Key {
    uint64_t time;
    uint32_t arrival;  // index into pending_
  };
  static constexpr size_t kBatch = 1024;

  void give_out_up_to(uint64_t limit);
  bool find_runs();
  void sort_keys();
  void give_out_sorted(uint64_t limit);
  void give_out_batch();
  void keep_from(size_t first);

  Deliver deliver_;
  LossLedger& losses_;
  std::vector<TimedRecord> pending_;
  std::vector<TimedRecord> batch_;
  std::vector<Key> keys_, merged_;
  std::vector<size_t> run_ends_;
  uint64_t last_pushed_ = 0;
  uint64_t newest_ = 0;     // seen in this round or before
  uint64_t limit_ = 0;      // newest at the end of the previous round
  uint64_t delivered_ = 0;  // newest given out
};

}  // namespace sonde
