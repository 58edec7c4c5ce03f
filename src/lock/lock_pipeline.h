// LockPipeline: the lock events of a recording, in time order (replay/passes/record_pipeline.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lock/lock_event.h"
#include "replay/fields/field_offsets.h"
#include "replay/fields/sample_offsets.h"
#include "replay/passes/record_pipeline.h"
#include "replay/passes/scan_machine.h"

namespace sonde {

class LockPipeline {
 public:
  /// `scan` must be at its start; it and `machine` must outlive this. Call chains are compared by
  /// their first `max_stack` addresses.
  LockPipeline(FileScan& scan, ScanMachine& machine, size_t max_stack, LossLedger& losses);

  [[nodiscard]] bool has(LockEventKind kind) const;

  using Take = std::function<void(std::span<const LockEvent>)>;
  /// Reads everything, once. `take` is called by one thread at a time. The machine is not settled.
  void run(const Take& take);

  /// The name of an event's lock, or of its class; lockdep only.
  [[nodiscard]] std::string read_name(const LockEvent& event) const;
  /// The call chain of an event.
  void read_chain(const LockEvent& event, SampleOffsets::Chain& chain) const;
  /// Complete after run.
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }

 private:
  class Decoder;
  struct Places : SampleOffsets {
    LockEventKind kind = LockEventKind::kOther;
    IntField lock, flags;
    TracepointField name;  // lockdep only
  };

  FileScan& scan_;
  ScanMachine& machine_;
  LossLedger& losses_;
  size_t max_stack_;
  std::vector<Places> places_;
  PipelineCounts counts_;
};

}  // namespace sonde
