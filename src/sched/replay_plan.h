// What `sched replay` replays: for each task of a recording its steps, in order. A sleep ends when
// the step that ended it in the recording is replayed, so that tasks wait for each other as they
// did, whatever the machine and its scheduler are.
//
//   tid 10:  sleep ·········► run 3 ms   wake tid 20   sleep
//   tid 20:  sleep ··························► run 1 ms
//
// A wakeup of a task that is not asleep, or is already woken, is a step without effect. Each sleep
// is ended by a step that was recorded later than the sleep, and what a task does after a sleep was
// recorded later than that step: so no plan deadlocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "sched/event_pipeline.h"
#include "sched/task_table.h"

namespace sonde {

struct ReplayStep {
  enum class Kind : uint8_t { kRun, kSleep, kWake };
  static constexpr uint32_t kNoSignal = UINT32_MAX;
  Kind kind = Kind::kSleep;
  uint32_t signal = kNoSignal;  // sleep: what ends it; wake: what it ends; none: nothing
  uint64_t run_ns = 0;
};

struct ReplayTask {
  uint32_t tid = 0;
  std::string name;
  std::vector<ReplayStep> steps;
};

/// What was recorded, by number.
struct PlanCounts {
  uint64_t runs = 0, sleeps = 0, wakeups = 0;
  uint64_t merged_runs = 0;
  uint64_t without_target = 0;  // wakeups of tasks that were not asleep
  uint64_t with_many = 0;       // wakeups of tasks already woken
};

class ReplayPlan {
 public:
  struct Who {
    uint32_t tid = 0;
    std::string_view name;
  };

  [[nodiscard]] static SchedKinds wanted(const SchedPipeline& pipeline);
  void consume(const SchedEvent& event, const SchedPipeline& pipeline);

  // The steps that `take` derives from events; times in nanoseconds.
  void take_switch(uint64_t time_ns, uint32_t cpu, const Who& leaves, const Who& comes);
  void take_wakeup(const Who& waker, const Who& woken);
  void take_fork(const Who& parent, const Who& child);
  /// Makes each task's last step wake the next task, so that tasks end one after another. Call
  /// once, at the end.
  void chain_ends();

  /// In order of first appearance in the recording.
  [[nodiscard]] const std::vector<ReplayTask>& tasks() const { return tasks_; }
  [[nodiscard]] const PlanCounts& counts() const { return counts_; }
  /// Signals are numbered from 0 to one below this.
  [[nodiscard]] uint32_t signals() const { return signals_; }

 private:
  ReplayTask& task(const Who& who);
  void run(ReplayTask& task, uint64_t ns);
  void sleep(ReplayTask& task);
  void wake(size_t waker, size_t woken);
  size_t number(const Who& who);

  std::vector<ReplayTask> tasks_;
  tsl::robin_map<uint32_t, uint32_t> by_tid_;  // index into tasks_
  std::vector<uint64_t> last_switch_ns_;       // by CPU
  TaskTable names_;
  PlanCounts counts_;
  uint32_t signals_ = 0;
};

}  // namespace sonde
