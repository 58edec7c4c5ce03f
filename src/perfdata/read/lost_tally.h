// LostTally: what the kernel dropped while a recording was made, each event counted once.
//
// Three records tell of losses, and the first two of the same ones:
//
//   LOST           a ring was full: so many records of any type had no room. It is written when
//                  there is room again, so that the last losses of a recording have none.
//   LOST_SAMPLES   the recorder's, at the end: what each event lost in all, as the kernel counts it
//                  since Linux 6.0 (PERF_FORMAT_LOST). Samples, if the event has samples; of a
//                  dummy, mappings and names.
//   LOST_SAMPLES   the kernel's, in between: samples that the processor dropped before any ring.
//
// So the counts per event, where there are any, say how many samples were lost, and LOST beyond
// them tells of other records. Where there are none, LOST may tell of samples. Records of the first
// kind of LOST_SAMPLES have no time. What a filter of the recorder's dropped (a BPF program, since
// Linux 6.3) was not wanted and is no loss.
//
//   LostTally tally;
//   for (…) tally.add(record, event, events);
//   LostCounts lost = tally.counts(events);
#pragma once

#include <cstdint>
#include <vector>

#include "base/loss.h"
#include "perfdata/header/event_table.h"
#include "perfdata/records/record.h"

namespace sonde {

struct LostCounts {
  uint64_t samples = 0;      // among them those that the processor dropped
  uint64_t maybe = 0;        // records of unknown type: samples perhaps
  uint64_t others = 0;       // records that were no samples
  uint64_t by_hardware = 0;  // samples that reached no ring
  // Whether `samples` may hold mappings and names: those of an event that has samples and tells of
  // tasks as well.
  bool has_sideband = false;
  std::vector<uint64_t> by_event = {};  // as LOST_SAMPLES tells, by EventId

  [[nodiscard]] uint64_t records() const { return samples + maybe + others; }
  [[nodiscard]] uint64_t in_rings() const { return records() - by_hardware; }
  [[nodiscard]] uint64_t most_samples() const { return samples + maybe; }
  /// Whether `most_samples` is a bound and not a count.
  [[nodiscard]] bool is_bound() const { return maybe > 0 || has_sideband; }
};

class LostTally {
 public:
  /// A record of any type; those that tell of no loss do not matter. `event` is that of its id
  /// block, and may be invalid.
  void add(const RecordView& record, EventId event, const EventTable& events);
  void add(const LostTally& other);
  [[nodiscard]] LostCounts counts(const EventTable& events) const;

 private:
  static void add_to(std::vector<uint64_t>& sums, size_t event, uint64_t lost);
  uint64_t in_rings_ = 0;           // LOST
  std::vector<uint64_t> counted_;   // by event: LOST_SAMPLES of the recorder
  std::vector<uint64_t> hardware_;  // by event: LOST_SAMPLES of the kernel
  uint64_t of_no_event_ = 0;        // LOST_SAMPLES with an unknown id
};

/// Counts them as losses of the command, without those that were counted `before`.
void count_losses(const LostCounts& lost, LossLedger& losses, const LostCounts& before = {});

}  // namespace sonde
