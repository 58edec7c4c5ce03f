// The first pass over a recording: it walks all headers once, applies the state-changing records to
// the machine in time order, counts everything, and says how the samples must be read.
#pragma once

#include <span>
#include <vector>

#include "base/loss.h"
#include "machine/machine.h"
#include "perfdata/recording.h"
#include "replay/jit_feed.h"
#include "replay/sample_columns.h"

namespace sonde {

/// A record that is not a sample, with its place in time.
struct OtherRecord {
  uint64_t time;
  EventId event;  // by its id block; invalid without one
  RecordView view;
};

struct SidebandResult {
  ReplayCounts counts;
  std::vector<OtherRecord> others;  // in file order
  std::vector<uint64_t>
      samples_before;  // per block: samples in the blocks before it; one more at the end
  std::vector<uint64_t> records_before;  // per block: the same for all records
  /// Samples or their mappings carry no time, so that file order stands for time: decided once per
  /// recording.
  bool rank_is_time = false;
};

/// Whether some event's samples, or its other records, carry no time, so that file order stands for
/// it.
bool file_order_is_time(const EventTable& events);

/// Applies records that are in the order of time, and those of them that change no state not. `jit`
/// looks for jitdumps, where it is given, and adds what they say at its time. The machine is left
/// to be frozen.
void apply_in_order(std::span<const OtherRecord> records, const EventTable& events,
                    Machine& machine, JitFeed* jit, LossLedger& losses);

/// `first_rank` is how many records were read before: those of a stream come in stretches. `jit`
/// as in apply_in_order.
SidebandResult read_sideband(const Recording& recording, Machine& machine, LossLedger& losses,
                             uint64_t first_rank = 0, JitFeed* jit = nullptr);

}  // namespace sonde
