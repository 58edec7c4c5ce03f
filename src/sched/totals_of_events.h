// The sums that BPF programs compute from scheduler activity (bpf/sched_totals.h), computed from
// its events instead: what each task did from the start of a recording, or from its first moment
// on, to the end.
//
//   TotalsOfEvents sums;
//   pipeline.run([&](auto events) { for (const SchedEvent& event : events) sums.consume(event,
//   pipeline); }); for (const SchedSum& sum : sums.result()) …
#pragma once

#include <optional>
#include <vector>

#include "bpf/sched_totals.h"
#include "sched/event_pipeline.h"
#include "sched/task_table.h"

namespace sonde {

class TotalsOfEvents {
 public:
  /// The events that it needs from `pipeline`.
  [[nodiscard]] static SchedKinds wanted(const SchedPipeline& pipeline);
  void consume(const SchedEvent& event, const SchedPipeline& pipeline);
  /// The same without the records that name tasks.
  void take_sample(const SchedEvent& event);

  /// Of the tasks that appeared, in order of their last moments.
  [[nodiscard]] std::vector<SchedSum> result() const;

 private:
  enum class Phase : uint8_t { kRuns, kRunnable, kSleeps, kBlocked };
  struct TaskState {
    bool is_known = false, has_ended = false;
    Phase phase = Phase::kSleeps;
    uint64_t since_ns = 0, runnable_ns = 0;
    SchedSum sum;
  };

  /// `phase`: what the task did until now, if it had not appeared before.
  TaskState& state_of(uint32_t tid, Phase phase, uint64_t time);
  static void change(TaskState& task, Phase phase, uint64_t time);
  static void count_delay(TaskState& task, uint64_t time);
  void take_switch(const SchedEvent& event);
  void take_wakeup(const SchedEvent& event);

  TaskTable tasks_;
  std::vector<TaskState> states_;  // parallel to tasks_
  std::optional<uint64_t> begin_ns_;
  uint64_t end_ns_ = 0;
};

}  // namespace sonde
