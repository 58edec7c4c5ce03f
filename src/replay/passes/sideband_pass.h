// The first pass over a recording: it walks all headers once, applies the state-changing records to
// the machine in time order, counts everything, and determines how the samples must be read.
#pragma once

#include <vector>

#include "base/loss.h"
#include "machine/machine.h"
#include "perfdata/read/recording.h"
#include "replay/passes/jit_replay.h"
#include "replay/passes/machine_builder.h"
#include "replay/sample_columns.h"

namespace sonde {

struct SidebandResult {
  ReplayCounts counts;
  LostTally losses;  // not yet in the ledger: those of a stream's batches are one sum
  std::vector<OtherRecord> others;  // in file order
  std::vector<uint64_t>
      samples_before;  // per block: samples in the blocks before it; one more entry at the end
  std::vector<uint64_t> records_before;  // per block: the same for all records
  /// Samples or their mappings carry no time, so file order replaces it. Decided once per
  /// recording.
  bool rank_is_time = false;
};

/// Whether the samples or other records of any event carry no time, so that file order replaces it.
bool file_order_is_time(const EventTable& events);

/// `first_rank` is the number of records read before: those of a stream come in batches. `jit` is
/// as in MachineBuilder::build.
SidebandResult read_sideband(const Recording& recording, Machine& machine, LossLedger& losses,
                             uint64_t first_rank = 0, JitReplay* jit = nullptr);

}  // namespace sonde
