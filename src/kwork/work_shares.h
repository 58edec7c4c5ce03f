// Whom the CPUs' time went to, for `kwork top`: what each task ran, without the interrupts and
// softirqs that came over it, and how much of that each CPU spent with what.
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
  uint32_t cpu = 0;  // the first one that it ran on; of idle tasks, their own
  std::string name;
  uint64_t runtime_ns = 0;
  uint64_t hundredths = 0;  // of percents of a CPU's time, added over CPUs
};

struct CpuShare {
  uint32_t cpu = 0;
  uint64_t total_ns = 0;  // of all tasks, with what interrupted them
  uint64_t idle_ns = 0, irq_ns = 0, softirq_ns = 0;
  uint64_t load_ns = 0;  // of the tasks that are shown
};

struct WorkShares {
  std::vector<TaskShare> tasks;
  std::vector<CpuShare> cpus;  // by number; those that ran something
};

enum class ShareSortKey : uint8_t { kRate, kRuntime, kTid };
/// "rate, runtime". kUsage where a key is none.
Result<std::vector<ShareSortKey>> parse_share_sort(std::string_view keys);

/// Of an analysis with the view kShares; tasks of that name alone where one is asked for.
[[nodiscard]] WorkShares work_shares(const WorkAnalysis& analysis,
                                     std::span<const ShareSortKey> sort);
void write_work_shares(Sink& out, const WorkShares& shares);

}  // namespace sonde
