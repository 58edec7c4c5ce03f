// Names of pieces of work, from the first sample that has one: an interrupt by its handler's name,
// a softirq by its event's print format, a work item by its function, a task by its comm.
#pragma once

#include <string>
#include <vector>

#include "kwork/work_table.h"
#include "replay/passes/scan_machine.h"
#include "replay/passes/tracepoint_pipeline.h"

namespace sonde {

class WorkNames {
 public:
  /// `machine` is settled on the first function: the kernel's mappings must come before.
  WorkNames(ScanMachine& machine, SymbolOptions symbols, const Env& env)
      : machine_(machine), symbols_(std::move(symbols)), env_(env) {}

  /// A record other than a sample.
  void keep(const OtherRecord& record);

  /// `subject` is the item's field to use, empty if it has none. Leaves `work` without a name if
  /// none is found.
  void name(Work& work, const TracepointItem& item, const TracepointPipeline& pipeline,
            std::string_view subject);

 private:
  void name_softirq(Work& work, const TracepointItem& item, const TracepointPipeline& pipeline);
  void name_function(Work& work, uint64_t address);

  ScanMachine& machine_;
  SymbolOptions symbols_;
  const Env& env_;
  bool is_settled_ = false;
};

/// The label in tables: "eth0:9", "(s)NET_RX:3", "(w)vmstat_update", "bash"; truncated like perf's.
[[nodiscard]] std::string work_label(const Work& work);

}  // namespace sonde
