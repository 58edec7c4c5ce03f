// LockPipeline: the lock events of a recording, in time order (replay/passes/tracepoint_scan.h).
#pragma once

#include <string>

#include "lock/lock_event.h"
#include "replay/fields/field_offsets.h"
#include "replay/passes/scan_machine.h"
#include "replay/passes/tracepoint_scan.h"

namespace sonde {

struct LockFields : SampleOffsets {
  LockEventKind kind = LockEventKind::kOther;
  IntField lock, flags;
  TracepointField name;  // lockdep only
};

class LockPipeline : public TracepointScan<LockEvent, LockFields> {
 public:
  /// `machine` must outlive this; it receives the other records, and is not settled. Call chains
  /// are compared by their first `max_stack` addresses.
  LockPipeline(FileScan& scan, ScanMachine& machine, size_t max_stack, LossLedger& losses);

  /// Reads everything, once.
  void run(const Take& take);

  /// The name of an event's lock, or of its class; lockdep only.
  [[nodiscard]] std::string read_name(const LockEvent& event) const;
  /// The call chain of an event.
  void read_chain(const LockEvent& event, SampleOffsets::Chain& chain) const;

 private:
  ScanMachine& machine_;
  size_t max_stack_;
};

}  // namespace sonde
