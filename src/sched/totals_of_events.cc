#include "sched/totals_of_events.h"

#include <algorithm>
#include <bit>

#include "sched/delay_histogram.h"
#include "sched/latency.h"
#include "sched/task_state.h"

namespace sonde {

SchedKinds TotalsOfEvents::wanted(const SchedPipeline& pipeline) {
  return LatencyAnalysis::wanted(pipeline);
}

void TotalsOfEvents::consume(const SchedEvent& event, const SchedPipeline& pipeline) {
  if (event.kind == SchedKind::kRecord)
    tasks_.apply(pipeline.record(event), pipeline.layout(event));
  else
    take_sample(event);
}

void TotalsOfEvents::take_sample(const SchedEvent& event) {
  if (!begin_ns_) begin_ns_ = event.time;
  end_ns_ = std::max(end_ns_, event.time);
  switch (event.kind) {
    case SchedKind::kSwitch:
      return take_switch(event);
    case SchedKind::kRuntime:
      if (event.task == 0) return;
      state_of(event.task, Phase::kRuns, event.time).sum.runtime_ns += event.value;
      return;
    case SchedKind::kWaking:
    case SchedKind::kWakeup:
    case SchedKind::kWakeupNew:
      return take_wakeup(event);
    default:
      return;
  }
}

TotalsOfEvents::TaskState& TotalsOfEvents::state_of(uint32_t tid, Phase phase, uint64_t time) {
  TaskId id = tasks_.find_or_add(Task::kUnknown, tid);
  if (id.index() >= states_.size()) states_.resize(tasks_.size());
  TaskState& task = states_[id.index()];
  if (std::exchange(task.is_known, true)) return task;
  task.phase = phase;
  task.sum.first_ns = task.since_ns = *begin_ns_;
  task.runnable_ns = time;  // how long it waited was not seen
  return task;
}

void TotalsOfEvents::change(TaskState& task, Phase phase, uint64_t time) {
  SchedSum& sum = task.sum;
  uint64_t& spent = task.phase == Phase::kRuns       ? sum.running_ns
                    : task.phase == Phase::kRunnable ? sum.runnable_ns
                    : task.phase == Phase::kSleeps   ? sum.sleeping_ns
                                                     : sum.blocked_ns;
  if (time > task.since_ns) {
    spent += time - task.since_ns;
    task.since_ns = time;
  }
  task.phase = phase;
}

void TotalsOfEvents::count_delay(TaskState& task, uint64_t time) {
  SchedSum& sum = task.sum;
  constexpr uint64_t kNsPerUs = 1000;
  uint64_t delay_ns = time - std::min(time, task.runnable_ns);
  auto bucket = static_cast<size_t>(std::bit_width(delay_ns / kNsPerUs));
  ++sum.buckets[std::min(bucket, SchedSum::kBuckets - 1)];
  ++sum.delays;
  sum.delay_ns += delay_ns;
  if (delay_ns <= sum.longest_ns) return;
  sum.longest_ns = delay_ns;
  sum.longest_end_ns = time;
}

void TotalsOfEvents::take_switch(const SchedEvent& event) {
  constexpr uint64_t kDead = 0x10 | 0x20;  // EXIT_DEAD, EXIT_ZOMBIE
  if (event.task != 0) {
    TaskState& task = state_of(event.task, Phase::kRuns, event.time);
    bool is_blocked = (event.value & kTaskUninterruptible) != 0;
    change(task,
           is_runnable(event.value) ? Phase::kRunnable
           : is_blocked             ? Phase::kBlocked
                                    : Phase::kSleeps,
           event.time);
    task.runnable_ns = event.time;
    task.has_ended = !is_runnable(event.value) && (event.value & kDead) != 0;
  }
  if (event.next == 0) return;
  TaskState& task = state_of(event.next, Phase::kRunnable, event.time);
  if (task.phase == Phase::kRunnable) count_delay(task, event.time);
  change(task, Phase::kRuns, event.time);
  task.has_ended = false;
}

void TotalsOfEvents::take_wakeup(const SchedEvent& event) {
  if (event.task == 0) return;
  TaskState& task = state_of(event.task, Phase::kSleeps, event.time);
  if (event.kind == SchedKind::kWakeupNew) task.sum.first_ns = task.since_ns = event.time;
  // A task that has a CPU, or is on a run queue, may be woken, too.
  if (task.phase == Phase::kRuns || task.phase == Phase::kRunnable) return;
  change(task, Phase::kRunnable, event.time);
  task.runnable_ns = event.time;
}

std::vector<SchedSum> TotalsOfEvents::result() const {
  std::vector<SchedSum> sums;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].is_known) continue;
    TaskState task = states_[i];
    if (!task.has_ended) change(task, task.phase, end_ns_);
    const Task& who = tasks_[TaskId(i)];
    task.sum.pid = who.pid;
    task.sum.tid = who.tid;
    task.sum.comm = who.name;
    task.sum.last_ns = task.since_ns;
    sums.push_back(std::move(task.sum));
  }
  std::ranges::stable_sort(sums, {}, &SchedSum::last_ns);
  return sums;
}

}  // namespace sonde
