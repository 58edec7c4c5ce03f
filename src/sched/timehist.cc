#include "sched/timehist.h"

#include <algorithm>

#include "perfdata/records/sideband.h"
#include "sched/task_state.h"

namespace sonde {
namespace {

constexpr size_t kTimeWidth = 15, kNumberWidth = 9;
constexpr size_t kPriorityWidth = 8;  // "120->139"
constexpr std::string_view kIdleName = "<idle>";

template <typename T>
bool allows(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

}  // namespace

void TaskTimes::leave(uint64_t now_ns, uint64_t came_ns) {
  run_ns = wait_ns = delay_ns = 0;
  if (came_ns != 0) {
    run_ns = now_ns - came_ns;
    if (woken_ns != 0 && woken_ns <= came_ns) delay_ns = came_ns - woken_ns;
    if (last_out_ns != 0 && last_out_ns <= came_ns) {
      wait_ns = came_ns - last_out_ns;
      if (is_runnable(last_state))
        preempted_ns += wait_ns;
      else if ((last_state & kTaskStateMask) == kTaskUninterruptible)
        io_wait_ns += wait_ns;
      else
        sleep_ns += wait_ns;
    }
  }
  runs.add(static_cast<double>(run_ns));
  shortest_ns = std::min(shortest_ns, run_ns);
  longest_ns = std::max(longest_ns, run_ns);
  total_run_ns += run_ns;
  total_delay_ns += delay_ns;
}

Timehist::Timehist(TimehistOptions options, StackText stack_text, Sink& out)
    : options_(std::move(options)),
      stack_text_(std::move(stack_text)),
      out_(out),
      highest_cpu_(std::min(options_.cpu_count, kMaxCpus - 1)) {
  idle_cpus_ = highest_cpu_;
  cpus_.resize(idle_cpus_);
}

SchedKinds Timehist::wanted(const SchedPipeline& pipeline) const {
  using enum SchedKind;
  SchedKinds wanted = kinds(kSwitch, kWakeupNew, kRecord);
  wanted |= kinds(pipeline.has(kWaking) ? kWaking : kWakeup);
  if (options_.migrations) wanted |= kinds(kMigrate);
  return wanted;
}

void Timehist::consume(const SchedEvent& event, const SchedPipeline& pipeline) {
  switch (event.kind) {
    case SchedKind::kSwitch:
      return take_switch(event, pipeline);
    case SchedKind::kMigrate:
      return take_migration(event);
    case SchedKind::kRecord: {
      RecordView record = pipeline.record(event);
      if (record.type == abi::kRecordLost) return take_lost(event, pipeline);
      return tasks_.apply(record, pipeline.layout(event));
    }
    default:
      return take_wakeup(event);
  }
}

// --- who and where

bool Timehist::is_filtered(TaskId task) const {
  const Task& who = tasks_[task];
  return !allows(options_.pids, who.pid) || !allows(options_.tids, who.tid);
}

bool Timehist::shows_cpu(uint32_t cpu) const {
  return allows(options_.cpus, cpu);
}

bool Timehist::is_in_time(uint64_t time) const {
  return options_.time.has(time);
}

TaskTimes& Timehist::times(TaskId task) {
  if (task.index() >= times_.size()) times_.resize(tasks_.size());
  return times_[task.index()];
}

Timehist::Cpu& Timehist::cpu(uint32_t number) {
  if (number >= cpus_.size()) cpus_.resize(number + 1);
  return cpus_[number];
}

/// "comm[tid/pid]", "comm[pid]" for a process' first task; only the name if the process is unknown.
std::string_view Timehist::name_of(TaskId task) {
  if (task.index() >= names_.size()) names_.resize(tasks_.size());
  NameText& name = names_[task.index()];
  const Task& who = tasks_[task];
  if (name.version != who.version) {
    // Tasks that had ended have -1 for their numbers.
    auto tid = static_cast<int32_t>(who.tid), pid = static_cast<int32_t>(who.pid);
    if (pid == 0)
      name.text = who.name;
    else if (tid != pid)
      name.text = fmt::format("{}[{}/{}]", who.name, tid, pid);
    else
      name.text = fmt::format("{}[{}]", who.name, tid);
    // Kernel workers have long names. perf truncates there, so that a column's lines agree.
    constexpr size_t kMaxLength = 31;
    if (name.text.size() > kMaxLength) name.text.resize(kMaxLength);
    name.version = who.version;
  }
  name_width_ = std::max(name_width_, name.text.size());
  return name.text;
}

// --- events

void Timehist::take_switch(const SchedEvent& event, const SchedPipeline& pipeline) {
  highest_cpu_ = std::max<uint32_t>(highest_cpu_, event.cpu);
  bool is_idle = event.task == 0;
  Cpu& here = cpu(event.cpu);
  TaskId task(size_t{0});
  if (is_idle) {
    idle_cpus_ = std::max<size_t>(idle_cpus_, event.cpu + 1);
  } else {
    // Samples with tid 0 but another pid exist.
    task = tasks_.find_or_add(event.pid, event.tid != 0 ? event.tid : event.pid);
    if (options_.idle_only) {
      here.before_idle = task;
      if (event.next == 0 && options_.stacks) here.stack_before_idle = stack_text_(event);
    }
  }
  uint64_t now = event.time;
  bool is_skipped = is_filtered(task);
  if (is_skipped) ++skipped_;
  if (options_.idle_only && event.task != 0 && event.next != 0) is_skipped = true;
  if (!is_skipped) {
    TaskTimes& of_task = is_idle ? here.idle : times(task);
    if (has_chosen_priority(event, pipeline)) {
      std::string_view priority;
      if (options_.priority) priority = priority_text(event, pipeline, of_task);
      if (account(event, of_task, here, now) && options_.lines)
        write_switch(event, pipeline, task, of_task, now, priority);
    }
    // Also of a run that is not shown: the next one, of another priority, waited since then.
    of_task.last_out_ns = event.time;
    of_task.last_state = event.value;
    of_task.woken_ns = 0;
  }
  note_window(now);
  here.last_switch_ns = event.time;
}

bool Timehist::has_chosen_priority(const SchedEvent& event, const SchedPipeline& pipeline) const {
  if (options_.priorities.empty()) return true;
  return allows(options_.priorities, static_cast<uint32_t>(pipeline.fields(event).prev_prio.read(
                                         pipeline.raw(event), pipeline.record(event).order)));
}

/// False if the switch is outside the window. `now` is clamped to its end.
bool Timehist::account(const SchedEvent& event, TaskTimes& of_task, Cpu& here, uint64_t& now) {
  uint64_t came = here.last_switch_ns;
  const TimeRange& wanted = options_.time;
  if (wanted.from_ns > now) return false;
  if (came != 0) came = std::max(came, wanted.from_ns);
  if (wanted.to_ns != TimeRange().to_ns) {
    // For a task that was there from the start it is unknown whether that is in the window.
    if (came == 0 || came > wanted.to_ns) return false;
    now = std::min(now, wanted.to_ns);
  }
  bool is_idle = event.task == 0;
  if (options_.idle_only && !is_idle) return true;
  if (shows_cpu(event.cpu)) of_task.leave(now, came);
  return !options_.idle_only || account_idle(here, now, came);
}

/// A CPU's idle time is the run time of the task that left it idle.
bool Timehist::account_idle(Cpu& here, uint64_t now, uint64_t came) {
  if (!here.before_idle.valid()) return false;
  TaskTimes& last = times(here.before_idle);
  last.leave(now, came);
  last.run_ns = last.wait_ns = last.delay_ns = 0;
  if (!here.stack_before_idle.empty()) {
    StackTimes& sum = here.idle_by_stack[here.stack_before_idle];
    sum.time_ns += now - came;
    ++sum.count;
  }
  here.before_idle = TaskId();
  return true;
}

void Timehist::note_window(uint64_t now) {
  if (first_ns_ == 0 && now >= options_.time.from_ns) first_ns_ = now;
  if (now <= options_.time.to_ns) last_ns_ = now;
}

void Timehist::take_wakeup(const SchedEvent& event) {
  TaskId woken = tasks_.find_or_add(0, event.task);
  TaskTimes& of_woken = times(woken);
  if (of_woken.woken_ns == 0) of_woken.woken_ns = event.time;
  if (!options_.wakeups || !options_.lines || options_.idle_only || !is_in_time(event.time)) return;
  TaskId waker = tasks_.find_or_add(event.pid, event.tid);
  if (is_filtered(waker)) {
    ++skipped_;
    if (is_filtered(woken)) {
      ++skipped_;
      return;
    }
  }
  write_start(event, event.time);
  if (options_.cpu_visual) out_.blanks(highest_cpu_ + 3);
  write_task(waker);
  out_.blanks(3 * kNumberWidth + 7);
  out_.put("awakened: ");
  out_.put(name_of(woken));
  out_.put('\n');
}

void Timehist::take_migration(const SchedEvent& event) {
  TaskId moved = tasks_.find_or_add(0, event.task);
  ++times(moved).migrations;
  if (!options_.lines || options_.idle_only) return;
  TaskId by = tasks_.find_or_add(event.pid, event.tid);
  if (is_filtered(by)) {
    ++skipped_;
    if (is_filtered(moved)) {
      ++skipped_;
      return;
    }
  }
  write_start(event, event.time);
  if (options_.cpu_visual) write_visual(event.cpu, 'm', 2);
  write_task(by);
  out_.blanks(3 * kNumberWidth + 7);
  out_.put("migrated: ");
  out_.put(name_of(moved));
  out_.put(" cpu ");
  out_.number(event.value);
  out_.put(" => ");
  out_.number(event.next);
  out_.put('\n');
}

void Timehist::take_lost(const SchedEvent& event, const SchedPipeline& pipeline) {
  auto lost = decode_as<LostRecord>(pipeline.record(event), pipeline.layout(event));
  if (!lost) return;
  out_.seconds(event.time, kTimeWidth);
  out_.put(" lost ");
  out_.number(lost->lost);
  out_.put(" events on cpu ");
  out_.number(event.cpu);
  out_.put('\n');
}

// --- lines

void Timehist::begin() {
  if (!options_.lines) return;
  // One more than there are CPUs, as in perf.
  size_t cpus = highest_cpu_ + 1u;
  std::string numbers, blanks(cpus, ' '), dashes(cpus, '-');
  for (size_t i = 0; i < cpus; ++i) numbers += "0123456789abcdef"[i % 16];
  auto row = [&](std::string_view time, std::string_view cpu, std::string_view visual,
                 std::string_view task, std::string_view prio,
                 std::array<std::string_view, 3> times, std::string_view state) {
    out_.right(time, kTimeWidth);
    out_.put(' ');
    out_.right(cpu, 6);
    out_.put(' ');
    if (options_.cpu_visual) {
      out_.put(' ');
      out_.put(visual);
      out_.put(' ');
    }
    out_.put(' ');
    out_.left(task, name_width_);
    if (options_.priority) {
      out_.put("  ");
      out_.left(prio, kPriorityWidth);
    }
    for (std::string_view column : times) {
      out_.put("  ");
      out_.right(column, kNumberWidth);
    }
    if (options_.state) {
      out_.put("  ");
      out_.right(state, 5);
    }
    out_.put('\n');
  };
  row("time", "cpu", numbers, "task name", "prio", {"wait time", "sch delay", "run time"}, "state");
  row("", "", blanks, "[tid/pid]", "", {"(msec)", "(msec)", "(msec)"}, "");
  std::string dash(name_width_, '-');
  std::string_view line(dash);
  std::string_view number = line.substr(0, kNumberWidth);
  row(line.substr(0, kTimeWidth), line.substr(0, 6), dashes, line, line.substr(0, kPriorityWidth),
      {number, number, number}, line.substr(0, 5));
}

void Timehist::write_start(const SchedEvent& event, uint64_t time) {
  out_.seconds(time, kTimeWidth);
  out_.put(" [");
  out_.number(event.cpu, 4, '0');
  out_.put("] ");
}

void Timehist::write_visual(uint32_t cpu, char mark, size_t margin) {
  out_.blanks(margin + cpu);
  out_.put(mark);
  out_.blanks(highest_cpu_ - cpu + margin);
}

void Timehist::write_task(TaskId task) {
  std::string_view name = name_of(task);
  out_.put(' ');
  out_.left(name, name_width_);
  out_.put(' ');
}

/// The priority that a task had when it left, and the previous one if it differs.
std::string_view Timehist::priority_text(const SchedEvent& event, const SchedPipeline& pipeline,
                                         TaskTimes& of_task) {
  auto now = static_cast<uint32_t>(
      pipeline.fields(event).prev_prio.read(pipeline.raw(event), pipeline.record(event).order));
  uint32_t before = std::exchange(of_task.priority, now);
  char* end = before != UINT32_MAX && before != now
                  ? fmt::format_to_n(priority_text_.data(), priority_text_.size(), "{}->{}",
                                     static_cast<int32_t>(before), static_cast<int32_t>(now))
                        .out
                  : fmt::format_to_n(priority_text_.data(), priority_text_.size(), "{}",
                                     static_cast<int32_t>(now))
                        .out;
  return {priority_text_.data(), end};
}

void Timehist::write_switch(const SchedEvent& event, const SchedPipeline& pipeline, TaskId task,
                            const TaskTimes& of_task, uint64_t now, std::string_view priority) {
  if (!shows_cpu(event.cpu)) return;
  bool is_idle = event.task == 0;
  write_start(event, now);
  if (options_.cpu_visual) write_visual(event.cpu, is_idle ? 'i' : 's', 1);
  if (is_idle) {
    out_.put(' ');
    out_.left(kIdleName, name_width_);
    out_.put(' ');
  } else {
    write_task(task);
  }
  if (options_.priority) {
    out_.put(' ');
    out_.left(priority, kPriorityWidth);
    out_.put(' ');
  }
  constexpr size_t kWhole = 6;
  out_.milliseconds(of_task.wait_ns, kWhole);
  out_.milliseconds(of_task.delay_ns, kWhole);
  out_.milliseconds(of_task.run_ns, kWhole);
  if (options_.state) {
    out_.blanks(5);
    out_.put(is_idle ? 'I' : state_letter(event.value));
    out_.put(' ');
  }
  if (options_.next) {
    // The text is truncated where perf's buffer ends.
    constexpr size_t kMaxLength = 29;
    std::string text = fmt::format(
        "next: {}[{}]", pipeline.fields(event).next_comm.read(pipeline.raw(event)), event.next);
    out_.put(' ');
    out_.left(std::string_view(text).substr(0, kMaxLength), name_width_);
  } else if (options_.wakeups) {
    out_.blanks(name_width_ + 2);
  }
  if (!is_idle && options_.stacks) {
    out_.put("  ");
    out_.put(stack_text_(event));
  }
  out_.put('\n');
}

}  // namespace sonde
