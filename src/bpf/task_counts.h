// TaskCounts: any events, counted for tasks by one BPF program that reads the CPUs' counters at
// each context switch. However many tasks are measured, and however often they start others, there
// is one counter per event and CPU, and a CPU's hardware counter is not reprogrammed at each
// switch.
//
//   TaskCounts counts = TRY(TaskCounts::open({.tids = {pid}}, maps, cpus));
//   std::vector<CpuCount> by_cpu = counts.by_cpu(0);   // the first event
//
// The counters, one per event and CPU, for all tasks, must be enabled. The maps that hold them
// (bpf/shared_counters.h), one per event, may be closed afterwards. The programs stay attached for
// the lifetime of the object, and disappear with the process however it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "bpf/cpu_counters.h"
#include "bpf/followed_tasks.h"

namespace sonde {

class TaskCounts {
 public:
  static constexpr size_t kMaxEvents = 64;

  /// Not for all tasks: the CPUs' counters give that directly. Errors say what the kernel refused,
  /// including its verifier's last words.
  static Result<TaskCounts> open(const FollowedTasks& tasks, std::span<const Fd> counter_maps,
                                 std::vector<int> cpus);
  TaskCounts(TaskCounts&&) noexcept;
  TaskCounts& operator=(TaskCounts&&) noexcept;
  ~TaskCounts();

  void set_enabled(bool enabled);
  /// Brings the totals up to date, for tasks that are running.
  void catch_up();
  /// Counts so far, by CPU.
  [[nodiscard]] std::vector<CpuCount> by_cpu(uint32_t event) const;
  /// New threads that could not be followed because there were more than 65,536 at a time.
  [[nodiscard]] uint64_t tasks_not_followed() const;

 private:
  struct State;
  explicit TaskCounts(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
