#include "sched/latency.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "sched/task_state.h"

namespace sonde {

SchedKinds LatencyAnalysis::wanted(const SchedPipeline& pipeline) {
  using enum SchedKind;
  // The waker reports it earlier than the woken task's CPU.
  SchedKind wakeup = pipeline.has(kWaking) ? kWaking : kWakeup;
  return kinds(kSwitch, kRuntime, wakeup, kWakeupNew, kMigrate, kRecord);
}

void LatencyAnalysis::consume(const SchedEvent& event, const SchedPipeline& pipeline) {
  switch (event.kind) {
    case SchedKind::kSwitch:
      return take_switch(event);
    case SchedKind::kRuntime: {
      TaskState& task = state_of(event.task);
      if (!std::exchange(task.is_known, true)) leave(task, true, event.time);
      task.sums.runtime_ns += event.value;
      return;
    }
    case SchedKind::kMigrate:
      return take_migration(event);
    case SchedKind::kRecord:
      return tasks_.apply(pipeline.record(event), pipeline.layout(event));
    default:
      return take_wakeup(event);
  }
}

LatencyAnalysis::TaskState& LatencyAnalysis::state_of(uint32_t tid) {
  TaskId id = tasks_.find_or_add(Task::kUnknown, tid);
  if (id.index() >= states_.size()) states_.resize(tasks_.size());
  return states_[id.index()];
}

void LatencyAnalysis::leave(TaskState& task, bool is_runnable, uint64_t time) {
  task.is_known = true;
  task.state = is_runnable ? State::kWaitsForCpu : State::kSleeping;
  task.out_ns = time;
  task.wake_ns = is_runnable ? time : 0;
}

void LatencyAnalysis::come(TaskState& task, uint64_t time) {
  if (task.state != State::kWaitsForCpu) return;
  if (time < task.wake_ns) {
    task.state = State::kIgnored;
    return;
  }
  task.state = State::kRuns;
  TaskDelays& sums = task.sums;
  uint64_t delay = time - task.wake_ns;
  sums.total_ns += delay;
  ++sums.delays;
  if (options_.histograms) add_to_histogram(task, delay);
  if (delay <= sums.longest_ns) return;
  sums.longest_ns = delay;
  sums.longest_start_ns = task.wake_ns;
  sums.longest_end_ns = time;
}

void LatencyAnalysis::add_to_histogram(const TaskState& task, uint64_t delay_ns) {
  if (histograms_.size() < states_.size()) histograms_.resize(states_.size());
  histograms_[static_cast<size_t>(&task - states_.data())].add(delay_ns);
}

void LatencyAnalysis::take_switch(const SchedEvent& event) {
  if (event.cpu >= running_.size()) running_.resize(event.cpu + 1, Task::kUnknown);
  uint32_t& running = running_[event.cpu];
  if (running != Task::kUnknown && running != event.task) ++bad_.wrong_switches;
  running = event.next;
  leave(state_of(event.task), is_runnable(event.value), event.time);
  TaskState& next = state_of(event.next);
  // For a task that had not appeared before it is unknown how long it waited.
  if (!next.is_known) leave(next, true, event.time);
  come(next, event.time);
}

void LatencyAnalysis::take_wakeup(const SchedEvent& event) {
  TaskState& task = state_of(event.task);
  if (!task.is_known) leave(task, false, event.time);
  // A task that is already on a run queue may be woken, too: that begins no wait. But if only one
  // CPU was recorded, it may have slept on another.
  if (!options_.only_cpu && task.state != State::kSleeping) return;
  ++bad_.times;
  if (task.out_ns > event.time) {
    ++bad_.unordered_times;
    return;
  }
  task.state = State::kWaitsForCpu;
  task.wake_ns = event.time;
}

void LatencyAnalysis::take_migration(const SchedEvent& event) {
  if (!options_.only_cpu) return;
  TaskState& task = state_of(event.task);
  if (!task.is_known) leave(task, true, event.time);
  task.out_ns = task.wake_ns = event.time;
  ++bad_.times;
}

std::vector<TaskLatency> LatencyAnalysis::result(bool by_name) const {
  std::vector<TaskLatency> rows;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].is_known) continue;
    const Task& task = tasks_[TaskId(i)];
    TaskLatency& row = rows.emplace_back();
    static_cast<TaskDelays&>(row) = states_[i].sums;
    row.tid = task.tid;
    row.name = task.name;
    if (i < histograms_.size()) row.histogram = histograms_[i];
  }
  sort_by_tid(rows);
  return by_name ? merge_by_name(rows) : rows;
}

void sort_by_tid(std::vector<TaskLatency>& rows) {
  std::ranges::stable_sort(rows, std::greater<>(), &TaskLatency::tid);
}

std::vector<TaskLatency> merge_by_name(const std::vector<TaskLatency>& rows) {
  std::map<std::string_view, TaskLatency, std::greater<>> by_names;
  for (const TaskLatency& row : rows) {
    auto [found, is_new] = by_names.try_emplace(row.name, row);
    if (is_new) continue;
    TaskLatency& sum = found->second;
    ++sum.merged;
    sum.runtime_ns += row.runtime_ns;
    sum.delays += row.delays;
    sum.total_ns += row.total_ns;
    sum.histogram.add(row.histogram);
    if (row.longest_ns <= sum.longest_ns) continue;
    sum.longest_ns = row.longest_ns;
    sum.longest_start_ns = row.longest_start_ns;
    sum.longest_end_ns = row.longest_end_ns;
  }
  std::vector<TaskLatency> merged;
  for (const auto& [name, row] : by_names) merged.push_back(row);
  return merged;
}

Result<> sort_latencies(std::vector<TaskLatency>& rows, std::string_view keys) {
  using Key = std::function<uint64_t(const TaskLatency&)>;
  std::vector<Key> chosen;
  for (std::string_view raw : split(keys, ',')) {
    std::string_view word = trim(raw);
    if (word.empty()) continue;
    if (word == "avg")
      chosen.emplace_back([](const TaskLatency& row) { return row.average_ns(); });
    else if (word == "max")
      chosen.emplace_back([](const TaskLatency& row) { return row.longest_ns; });
    else if (word == "switch")
      chosen.emplace_back([](const TaskLatency& row) { return row.delays; });
    else if (word == "runtime")
      chosen.emplace_back([](const TaskLatency& row) { return row.runtime_ns; });
    else if (word == "pid")
      chosen.emplace_back([](const TaskLatency& row) { return row.tid; });
    else
      return fail(ErrorCode::kUsage, "Unknown --sort key: `{}'", word);
  }
  std::ranges::stable_sort(rows, [&](const TaskLatency& a, const TaskLatency& b) {
    for (const Key& key : chosen)
      if (key(a) != key(b)) return key(a) > key(b);
    return false;
  });
  return {};
}

}  // namespace sonde
