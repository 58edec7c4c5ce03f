// Writes the totals of Timehist.
#include <algorithm>
#include <functional>

#include "sched/timehist.h"

namespace sonde {
namespace {

constexpr size_t kLineWidth = 117;

}  // namespace

void Timehist::write_summary_head() {
  bool waits = !options_.idle_only && options_.state;
  std::string_view title = options_.idle_only ? "Idle-time" : waits ? "Wait-time" : "Runtime";
  std::string_view count = options_.idle_only ? "sched-out" : " sched-in";
  std::string_view columns =
      options_.idle_only ? "  idle-time   min-idle    avg-idle    max-idle  stddev  migrations"
      : waits            ? "   run-time      sleep      iowait     preempt       delay"
                         : "   run-time    min-run     avg-run     max-run  stddev  migrations";
  out_.put('\n');
  out_.put(title);
  out_.put(" summary\n");
  out_.right("comm", name_width_);
  out_.put("  parent  ");
  out_.put(count);
  out_.put("  ");
  out_.put(columns);
  out_.put('\n');
  out_.blanks(name_width_ + 12);
  out_.put("(count)       (msec)     (msec)      (msec)      (msec)       ");
  out_.put(options_.state ? "(msec)\n" : "%\n");
  out_.put(std::string(kLineWidth, '-'));
  out_.put('\n');
}

void Timehist::write_task_times(TaskId task, const TaskTimes& of_task) {
  // The column must grow before the name is written into it.
  std::string_view name = name_of(task);
  out_.right(name, name_width_);
  out_.print("   {:5}  {:9} ", static_cast<int32_t>(tasks_[task].parent_tid), of_task.runs.count());
  constexpr size_t kTotal = 8, kWhole = 6;
  out_.milliseconds(of_task.total_run_ns, kTotal);
  std::array<uint64_t, 4> columns = {
      of_task.shortest_ns, static_cast<uint64_t>(of_task.runs.mean()), of_task.longest_ns, 0};
  size_t count = 3;
  if (options_.state) {
    columns = {of_task.sleep_ns, of_task.io_wait_ns, of_task.preempted_ns, of_task.total_delay_ns};
    count = columns.size();
  }
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out_.put(' ');
    out_.milliseconds(columns[i], kWhole);
  }
  if (!options_.state)
    out_.print("  {:5.2f}   {:5}",
               static_cast<double>(static_cast<float>(of_task.runs.error_percent())),
               of_task.migrations);
  out_.put('\n');
}

void Timehist::write_tasks(bool ended, const std::vector<TaskId>& order, Totals& totals) {
  uint64_t before = totals.tasks;
  for (TaskId id : order) {
    if (id.index() >= times_.size() || tasks_[id].has_ended != ended) continue;
    const TaskTimes& of_task = times_[id.index()];
    if (of_task.runs.count() == 0) continue;
    ++totals.tasks;
    totals.switches += of_task.runs.count();
    totals.run_ns += of_task.total_run_ns;
    write_task_times(id, of_task);
  }
  if (totals.tasks != before) return;
  out_.put(ended ? "<no terminated tasks>\n" : "<no still running tasks>\n");
}

void Timehist::write_idle(Totals& totals) {
  double window = static_cast<double>(last_ns_ - first_ns_);
  out_.put("\nIdle stats:\n");
  for (size_t i = 0; i < idle_cpus_; ++i) {
    if (!shows_cpu(static_cast<uint32_t>(i))) continue;
    const TaskTimes& idle = cpus_[i].idle;
    out_.put("    CPU ");
    out_.number(i, 2);
    if (idle.runs.count() == 0) {
      out_.put(" idle entire time window\n");
      continue;
    }
    totals.switches += idle.runs.count();
    out_.put(" idle for ");
    out_.milliseconds(idle.total_run_ns, 6);
    out_.print(" msec  ({:6.2f}%)\n", 100.0 * static_cast<double>(idle.total_run_ns) / window);
  }
}

void Timehist::write_idle_stacks() {
  out_.put("\nIdle stats by callchain:\n");
  for (size_t i = 0; i < idle_cpus_; ++i) {
    out_.put("  CPU ");
    out_.number(i, 2);
    out_.put(':');
    out_.milliseconds(cpus_[i].idle.total_run_ns, 6);
    out_.print(" msec\n  {:>16}  {:>8}  {}\n  {:->16}  {:->8}  {:->50}\n", "Idle time (msec)",
               "Count", "Callchains", "", "", "");
    std::vector<std::pair<std::string_view, StackTimes>> rows(cpus_[i].idle_by_stack.begin(),
                                                              cpus_[i].idle_by_stack.end());
    std::ranges::stable_sort(rows, std::greater<>(), [](auto& row) { return row.second.time_ns; });
    for (const auto& [stack, sum] : rows) {
      out_.put("  ");
      out_.milliseconds(sum.time_ns, 12);
      out_.print(" {:8}  {}\n", sum.count, stack.substr(1));  // texts begin with a blank
    }
    out_.put('\n');
  }
}

void Timehist::write_summary() {
  Totals totals;
  write_summary_head();
  std::vector<TaskId> order = tasks_.in_perf_order();
  write_tasks(false, order, totals);
  out_.put("\nTerminated tasks:\n");
  write_tasks(true, order, totals);
  // What was left out would count as idle time.
  if (skipped_ > 0 && !options_.idle_only) return;
  write_idle(totals);
  if (options_.idle_only && options_.stacks) write_idle_stacks();
  uint64_t window = last_ns_ - first_ns_;
  out_.print("\n    Total number of unique tasks: {}\nTotal number of context switches: {}\n",
             totals.tasks, totals.switches);
  out_.put("           Total run time (msec): ");
  out_.milliseconds(totals.run_ns, 2);
  out_.put("\n    Total scheduling time (msec): ");
  out_.milliseconds(window, 2);
  out_.print(" (x {})\n", highest_cpu_);
}

}  // namespace sonde
