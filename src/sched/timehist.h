// The history of `sched timehist`: a line per context switch about the task that leaves its CPU.
//
//      waking                 switch to it            switch away
//   ░░░░░┼─────── delay ───────────┼────── run time ────────┤   a line, now
//   ├── wait time (since it last left a CPU) ──┤
//
// Wait time lasts from the previous switch away to the switch to it; the delay is the part of it in
// which the task was woken but had no CPU. A CPU's idle time is that of its idle task.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/running_stats.h"
#include "replay/sample_columns.h"
#include "sched/event_pipeline.h"
#include "sched/task_table.h"
#include "sched/text_out.h"

namespace sonde {

struct TimehistOptions {
  bool lines = true;                                   // false: only the summary
  bool cpu_visual = false;                             // -V
  bool migrations = false;                             // -M
  bool wakeups = false;                                // -w
  bool next = false;                                   // -n
  bool state = false;                                  // --state
  bool priority = false;                               // --show-prio
  bool idle_only = false;                              // -I
  bool stacks = false;                                 // of the outgoing task
  std::vector<uint32_t> cpus, pids, tids, priorities;  // only these; empty: all
  TimeRange time = {};                                 // only this
  uint32_t cpu_count = 1;
};

/// Accumulated times of a task.
struct TaskTimes {
  uint64_t last_out_ns = 0;  // when it last left a CPU
  uint64_t woken_ns = 0;     // since when it waits for a CPU; 0: it doesn't
  uint64_t last_state = 0;   // prev_state when it last left
  // For the latest stay on a CPU.
  uint64_t run_ns = 0, wait_ns = 0, delay_ns = 0;
  uint64_t total_run_ns = 0, total_delay_ns = 0;
  uint64_t sleep_ns = 0, io_wait_ns = 0, preempted_ns = 0;  // what it waited for
  uint64_t shortest_ns = UINT64_MAX, longest_ns = 0;
  RunningStats runs;
  uint64_t migrations = 0;
  uint32_t priority = UINT32_MAX;

  /// It leaves a CPU now, to which it came at `came_ns` (0: unknown).
  void leave(uint64_t now_ns, uint64_t came_ns);
};

class Timehist {
 public:
  /// The stack where a task left its CPU, as shown in a line; empty if there is none.
  using StackText = std::function<std::string_view(const SchedEvent&)>;

  Timehist(TimehistOptions options, StackText stack_text, Sink& out);

  [[nodiscard]] SchedKinds wanted(const SchedPipeline& pipeline) const;
  /// Writes the table header.
  void begin();
  void consume(const SchedEvent& event, const SchedPipeline& pipeline);
  /// Writes the totals.
  void write_summary();
  void flush() { out_.flush(); }

 private:
  struct StackTimes {
    uint64_t time_ns = 0, count = 0;
  };
  struct Cpu {
    uint64_t last_switch_ns = 0;
    TaskTimes idle;
    TaskId before_idle;  // the task last seen there
    std::string_view stack_before_idle;
    std::map<std::string_view, StackTimes> idle_by_stack;  // where tasks left it idle
  };
  struct NameText {
    std::string text;      // "comm[tid/pid]"
    uint32_t version = 0;  // of the task's name
  };
  struct Totals {
    uint64_t tasks = 0, switches = 0, run_ns = 0;
  };

  void take_switch(const SchedEvent& event, const SchedPipeline& pipeline);
  [[nodiscard]] bool has_chosen_priority(const SchedEvent& event,
                                         const SchedPipeline& pipeline) const;
  bool account(const SchedEvent& event, TaskTimes& times, Cpu& cpu, uint64_t& now);
  bool account_idle(Cpu& cpu, uint64_t now, uint64_t came);
  void take_wakeup(const SchedEvent& event);
  void take_migration(const SchedEvent& event);
  void take_lost(const SchedEvent& event, const SchedPipeline& pipeline);
  void note_window(uint64_t now);

  [[nodiscard]] bool is_filtered(TaskId task) const;
  [[nodiscard]] bool shows_cpu(uint32_t cpu) const;
  [[nodiscard]] bool is_in_time(uint64_t time) const;
  TaskTimes& times(TaskId task);
  Cpu& cpu(uint32_t number);
  std::string_view name_of(TaskId task);

  void write_switch(const SchedEvent& event, const SchedPipeline& pipeline, TaskId task,
                    const TaskTimes& times, uint64_t now, std::string_view priority);
  void write_start(const SchedEvent& event, uint64_t time);
  void write_visual(uint32_t cpu, char mark, size_t margin);
  void write_task(TaskId task);
  std::string_view priority_text(const SchedEvent& event, const SchedPipeline& pipeline,
                                 TaskTimes& times);

  void write_summary_head();
  void write_tasks(bool ended, const std::vector<TaskId>& order, Totals& totals);
  void write_task_times(TaskId task, const TaskTimes& times);
  void write_idle(Totals& totals);
  void write_idle_stacks();

  TimehistOptions options_;
  StackText stack_text_;
  TextOut out_;
  TaskTable tasks_;
  std::vector<TaskTimes> times_;  // parallel to tasks_
  std::vector<NameText> names_;   // parallel to tasks_
  std::vector<Cpu> cpus_;         // by number
  size_t idle_cpus_ = 0;          // that have an idle task
  size_t name_width_ = 30;        // of the column: the longest name so far
  uint32_t highest_cpu_;          // see begin()
  uint64_t skipped_ = 0;
  uint64_t first_ns_ = 0, last_ns_ = 0;
  std::array<char, 24> priority_text_{};
};

}  // namespace sonde
