// What pieces of work are called, out of the first sample that says it: an interrupt by its
// handler's name, a softirq by its event's print format, an item of a workqueue by its function,
// a task by its comm.
#pragma once

#include <string>
#include <vector>

#include "kwork/work_table.h"
#include "replay/tracepoint_feed.h"
#include "replay/walk_machine.h"

namespace sonde {

class WorkNames {
 public:
  /// `machine` is settled when the first function is met: the kernel's mappings come before.
  WorkNames(WalkMachine& machine, SymbolOptions symbols, const Env& env)
      : machine_(machine), symbols_(std::move(symbols)), env_(env) {}

  /// A record that is no sample.
  void keep(const OtherRecord& record);

  /// `subject` is the field of the item to look at, empty where it has none. Leaves `work` without
  /// a name where none is found.
  void name(Work& work, const TracepointItem& item, const TracepointFeed& feed,
            std::string_view subject);

 private:
  void name_softirq(Work& work, const TracepointItem& item, const TracepointFeed& feed);
  void name_function(Work& work, uint64_t address);

  WalkMachine& machine_;
  SymbolOptions symbols_;
  const Env& env_;
  bool is_settled_ = false;
};

/// How tables call it: "eth0:9", "(s)NET_RX:3", "(w)vmstat_update", "bash"; cut where perf cuts.
[[nodiscard]] std::string work_label(const Work& work);

}  // namespace sonde
