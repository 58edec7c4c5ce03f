// Where the CPUs' time went, for `kwork top`: each task's run time, without the interrupts and
// softirqs that interrupted it, and each CPU's time by purpose.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/sink.h"
#include "kwork/work_analysis.h"

namespace sonde {

struct TaskShare {
  uint64_t tid = 0;
  uint32_t cpu = 0;  // the first one it ran on; for idle tasks, their own
  std::string name;
  uint64_t runtime_ns = 0;
  uint64_t hundredths = 0;  // of percents of a CPU's time, summed over CPUs
};

struct CpuShare {
  uint32_t cpu = 0;
  uint64_t total_ns = 0;  // of all tasks, including what interrupted them
  uint64_t idle_ns = 0, irq_ns = 0, softirq_ns = 0;
  uint64_t load_ns = 0;  // of the tasks shown
};

struct WorkShares {
  std::vector<TaskShare> tasks;
  std::vector<CpuShare> cpus;  // by number; only those that ran something
};

enum class ShareSortKey : uint8_t { kRate, kRuntime, kTid };
/// "rate, runtime". Fails with kUsage on an unknown key.
Result<std::vector<ShareSortKey>> parse_share_sort(std::string_view keys);

/// Of an analysis with the view kShares; restricted to tasks of a name if the options have one.
[[nodiscard]] WorkShares work_shares(const WorkAnalysis& analysis,
                                     std::span<const ShareSortKey> sort);
void write_work_shares(Sink& out, const WorkShares& shares);

}  // namespace sonde
