// The options of `lock contention`, from a recording or live.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/lock/lock.h"
#include "lock/lock_names.h"
#include "lock/lock_tables.h"

namespace sonde {

struct ContentionOptions {
  LockOptions lock;
  std::string key = "wait_total", fields = "contended,wait_total,wait_max,avg_wait";
  bool by_thread = false, by_lock = false;
  std::optional<uint64_t> most_rows;
  uint32_t max_stack = 8, stack_skip = 3;
  std::vector<std::string> types, locks, functions;
  bool futex = false;  // locks of programs, not of the kernel
  std::string separator, output;
  // For measuring live in the kernel.
  bool use_bpf = false, all_cpus = false, by_owner = false, by_cgroup = false;
  std::vector<std::string> cgroups;
  std::string pids, tids;
  std::vector<uint32_t> cpus;
  uint32_t most_sums = 10240;

  void declare(FlagTable& flags);
  /// kUsage if one is invalid.
  [[nodiscard]] Result<LockTypeFilter> type_filter() const;
  /// kUsage if a field is invalid.
  [[nodiscard]] Result<LockTableStyle> style() const;
};

/// `lock contention -b`: live, while `command` runs or until interrupted.
Result<int> measure_contention(const ContentionOptions& options, LockTableStyle style,
                               const LockColumn& key, const std::vector<std::string>& command,
                               Env& env);

/// `lock contention --futex`: from a recording.
Result<int> show_futexes(const ContentionOptions& options, LockTableStyle style,
                         const LockColumn& key, Env& env);
/// The same with -b: live, through a recording that is not kept.
Result<int> measure_futexes(const ContentionOptions& options, const LockTableStyle& style,
                            const LockColumn& key, const std::vector<std::string>& command,
                            Env& env);

}  // namespace sonde
