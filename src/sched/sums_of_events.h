// The sums that BPF programs compute from scheduler activity (bpf/sched_sums.h), computed from its
// events instead: what each task did from the start of a recording, or from its first moment on, to
// the end.
//
//   SumsOfEvents sums;
//   feed.run([&](auto events) { for (const SchedEvent& event : events) sums.take(event, feed); });
//   for (const SchedSum& sum : sums.result()) …
#pragma once

#include <optional>
#include <vector>

#include "bpf/sched_sums.h"
#include "sched/event_feed.h"
#include "sched/task_table.h"

namespace sonde {

class SumsOfEvents {
 public:
  /// The events that it needs from `feed`.
  [[nodiscard]] static SchedKinds wanted(const SchedFeed& feed);
  void take(const SchedEvent& event, const SchedFeed& feed);
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
