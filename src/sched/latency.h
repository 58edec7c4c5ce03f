// Scheduling latencies: how long tasks waited for a CPU after they had been woken or preempted, per
// task or per name, as in `perf sched latency`.
//
//   wakeup ──────── switch to the task        a delay
//   switch away while runnable ── switch to   a delay, too
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sched/delay_histogram.h"
#include "sched/event_pipeline.h"
#include "sched/task_table.h"

namespace sonde {

struct TaskDelays {
  uint64_t runtime_ns = 0;
  uint64_t delays = 0;  // times that it got a CPU
  uint64_t total_ns = 0, longest_ns = 0;
  uint64_t longest_start_ns = 0, longest_end_ns = 0;
};

/// A line of the table.
struct TaskLatency : TaskDelays {
  uint32_t tid = 0;       // of the first of the merged tasks
  std::string_view name;  // owned by whoever made the line
  uint32_t merged = 1;    // tasks of one name
  DelayHistogram histogram;

  [[nodiscard]] uint64_t average_ns() const { return delays == 0 ? 0 : total_ns / delays; }
};

/// Sorts by tid, descending; stable.
void sort_by_tid(std::vector<TaskLatency>& rows);

/// One line per name, by name, descending: the initial order of perf's lines.
[[nodiscard]] std::vector<TaskLatency> merge_by_name(const std::vector<TaskLatency>& rows);

/// Contradictions in the recording.
struct BadSchedEvents {
  uint64_t times = 0, unordered_times = 0;
  uint64_t wrong_switches = 0;  // a task left a CPU that it had not come to
};

class LatencyAnalysis {
 public:
  struct Options {
    /// A recording of one CPU: it lacks what happened to its tasks on others.
    std::optional<uint32_t> only_cpu;
    bool histograms = false;
  };
  explicit LatencyAnalysis(const Options& options) : options_(options) {}

  /// The events that it needs from `pipeline`.
  [[nodiscard]] static SchedKinds wanted(const SchedPipeline& pipeline);
  void consume(const SchedEvent& event, const SchedPipeline& pipeline);

  [[nodiscard]] const TaskTable& tasks() const { return tasks_; }
  [[nodiscard]] const BadSchedEvents& bad() const { return bad_; }
  /// In perf's unsorted order: by name, or by tid if not `by_name`, descending.
  [[nodiscard]] std::vector<TaskLatency> result(bool by_name) const;

 private:
  enum class State : uint8_t { kSleeping, kWaitsForCpu, kRuns, kIgnored };
  /// Small, since each event accesses one or two of these.
  struct TaskState {
    bool is_known = false;
    State state = State::kSleeping;
    uint64_t out_ns = 0;   // when it left its CPU
    uint64_t wake_ns = 0;  // since when it has been runnable
    TaskDelays sums;
  };

  TaskState& state_of(uint32_t tid);
  static void leave(TaskState& task, bool is_runnable, uint64_t time);
  void come(TaskState& task, uint64_t time);
  void add_to_histogram(const TaskState& task, uint64_t delay_ns);
  void take_switch(const SchedEvent& event);
  void take_wakeup(const SchedEvent& event);
  void take_migration(const SchedEvent& event);

  Options options_;
  TaskTable tasks_;
  std::vector<TaskState> states_;           // parallel to tasks_
  std::vector<DelayHistogram> histograms_;  // the same, if they are wanted
  std::vector<uint32_t> running_;           // tid by CPU; kUnknown before the first switch
  BadSchedEvents bad_;
};

/// The keys of `-s`: "runtime,switch,avg,max,pid". Sorts the rows stably, largest first. Fails with
/// kUsage on an unknown key.
Result<> sort_latencies(std::vector<TaskLatency>& rows, std::string_view keys);

}  // namespace sonde
