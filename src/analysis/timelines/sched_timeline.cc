#include "analysis/timelines/sched_timeline.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sonde {
namespace {

using view::kNoIndex;
using view::TaskState;
using view::TimelineSlice;
using view::TimelineThread;

bool is_wait(TaskState state) {
  return state != TaskState::kRunning && state != TaskState::kRunnable;
}

TaskState state_of(LeftAs left) {
  switch (left) {
    case LeftAs::kUninterruptible:
      return TaskState::kUninterruptible;
    case LeftAs::kStopped:
      return TaskState::kStopped;
    case LeftAs::kSleeping:
      return TaskState::kSleeping;
    default:
      return TaskState::kRunnable;
  }
}

}  // namespace

LeftAs left_as(uint64_t prev_state) {
  constexpr uint64_t kUninterruptible = 0x2, kStoppedOrTraced = 0x4 | 0x8, kDeadOrZombie = 0x30;
  constexpr uint64_t kAnyWait = 0xff;
  if ((prev_state & kAnyWait) == 0) return LeftAs::kRunnable;
  if (prev_state & kDeadOrZombie) return LeftAs::kEnded;
  if (prev_state & kUninterruptible) return LeftAs::kUninterruptible;
  return prev_state & kStoppedOrTraced ? LeftAs::kStopped : LeftAs::kSleeping;
}

uint32_t TimelineBuilder::index_of(uint32_t tid) {
  auto [entry, is_new] = by_tid_.try_emplace(tid, static_cast<uint32_t>(tasks_.size()));
  if (is_new) {
    tasks_.emplace_back();
    timeline_.threads.emplace_back().tid = tid;
  }
  return entry->second;
}

uint32_t TimelineBuilder::cpu_index(uint32_t cpu) {
  auto [entry, is_new] = by_cpu_.try_emplace(cpu, static_cast<uint32_t>(cpus_.size()));
  if (is_new) {
    cpus_.emplace_back();
    timeline_.cpus.emplace_back().cpu = cpu;
  }
  return entry->second;
}

void TimelineBuilder::name(uint32_t tid, std::string_view name) {
  std::string& known = timeline_.threads[index_of(tid)].name;
  if (known != name) known = name;
}

void TimelineBuilder::process(uint32_t tid, uint32_t pid, std::string_view name) {
  TimelineThread& thread = timeline_.threads[index_of(tid)];
  thread.pid = pid;
  thread.process_name = name;
}

std::vector<uint32_t> TimelineBuilder::tids() const {
  std::vector<uint32_t> tids;
  for (const TimelineThread& thread : timeline_.threads) tids.push_back(thread.tid);
  return tids;
}

void TimelineBuilder::note_time(uint64_t time_ns) {
  if (timeline_.start_ns == 0 && timeline_.end_ns == 0) timeline_.start_ns = time_ns;
  timeline_.end_ns = std::max(timeline_.end_ns, time_ns);
}

void TimelineBuilder::add(const SchedSwitch& event) {
  note_time(event.time_ns);
  uint32_t cpu = cpu_index(event.cpu);
  leave(event, cpu);
  come(event);
  Cpu& at = cpus_[cpu];
  if (!at.seen) at.first_ns = event.time_ns;
  at.seen = true;
  at.last_ns = event.time_ns;
  at.current = event.next_tid;
}

void TimelineBuilder::end_run(uint32_t thread, uint32_t cpu, uint64_t start_ns, uint64_t end_ns,
                              bool is_cut) {
  TimelineThread& to = timeline_.threads[thread];
  view::TimelineCpu& at = timeline_.cpus[cpu];
  to.slices.push_back({.start_ns = start_ns,
                       .end_ns = end_ns,
                       .state = TaskState::kRunning,
                       .is_cut = is_cut,
                       .cpu = at.cpu});
  at.runs.push_back({.start_ns = start_ns, .end_ns = end_ns, .thread = thread, .is_cut = is_cut});
  if (is_cut) return;
  to.state_ns[size_t(TaskState::kRunning)] += end_ns - start_ns;
  at.busy_ns += end_ns - start_ns;
}

/// Ends a wait; a no-op for a running thread.
void TimelineBuilder::end_wait(uint32_t thread, uint64_t end_ns) {
  const Task& task = tasks_[thread];
  if (!task.is_known || task.state == TaskState::kRunning || end_ns < task.since_ns) return;
  TimelineThread& to = timeline_.threads[thread];
  to.state_ns[size_t(task.state)] += end_ns - task.since_ns;
  if (end_ns == task.since_ns) return;
  TimelineSlice& slice = to.slices.emplace_back();
  slice.start_ns = task.since_ns;
  slice.end_ns = end_ns;
  slice.state = task.state;
  slice.cpu = task.cpu;
  slice.stack = task.stack;
  slice.waker = task.waker;
  slice.waker_stack = task.waker_stack;
}

void TimelineBuilder::leave(const SchedSwitch& event, uint32_t cpu) {
  const Cpu& at = cpus_[cpu];
  if (at.seen && at.current != event.prev_tid) {
    ++contradictions_;
    // The thread that came last left unseen: nothing is known of it until its next event.
    if (at.current != 0) tasks_[index_of(at.current)].is_known = false;
  }
  if (event.prev_tid == 0) return;
  uint32_t thread = index_of(event.prev_tid);
  uint64_t start_ns = at.seen ? at.last_ns : timeline_.start_ns;
  end_wait(thread, start_ns);
  end_run(thread, cpu, start_ns, event.time_ns, !at.seen);
  Task& task = tasks_[thread];
  LeftAs left = left_as(event.prev_state);
  task.is_known = left != LeftAs::kEnded;
  task.state = state_of(left);
  task.since_ns = event.time_ns;
  task.cpu = event.cpu;
  task.stack = event.stack;
  if (!is_wait(task.state)) task.woken_early = false;
  if (!task.woken_early) task.waker = task.waker_stack = kNoIndex;
}

void TimelineBuilder::come(const SchedSwitch& event) {
  if (event.next_tid == 0) return;
  uint32_t thread = index_of(event.next_tid);
  Task& task = tasks_[thread];
  // It was woken just before it left its CPU, so it waited for a CPU all that time.
  if (task.woken_early && is_wait(task.state)) task.state = TaskState::kRunnable;
  end_wait(thread, event.time_ns);
  ++timeline_.threads[thread].runs;
  task = {
      .is_known = true, .state = TaskState::kRunning, .since_ns = event.time_ns, .cpu = event.cpu};
}

void TimelineBuilder::add(const SchedWaking& event) {
  note_time(event.time_ns);
  if (event.woken_tid == 0) return;
  uint32_t thread = index_of(event.woken_tid);
  uint32_t waker = event.waker_tid == 0 ? kNoIndex : index_of(event.waker_tid);
  Task& task = tasks_[thread];
  if (task.is_known && task.state == TaskState::kRunnable) return;
  task.waker = waker;
  task.waker_stack = event.stack;
  if (task.is_known && task.state == TaskState::kRunning) {
    task.woken_early = true;
    return;
  }
  end_wait(thread, event.time_ns);
  task.woken_early = false;
  task.is_known = true;
  task.state = TaskState::kRunnable;
  task.since_ns = event.time_ns;
}

/// Ends the runs still going on when the recording ends.
void TimelineBuilder::finish_cpus() {
  for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    const Cpu& at = cpus_[cpu];
    timeline_.cpus[cpu].watched_ns = at.last_ns - at.first_ns;
    if (at.current == 0 || timeline_.end_ns <= at.last_ns) continue;
    uint32_t thread = index_of(at.current);
    tasks_[thread].is_known = false;
    end_run(thread, cpu, at.last_ns, timeline_.end_ns, true);
  }
}

/// Ends the waits still going on then.
void TimelineBuilder::finish_tasks() {
  for (uint32_t thread = 0; thread < tasks_.size(); ++thread) {
    const Task& task = tasks_[thread];
    if (!task.is_known || task.state == TaskState::kRunning) continue;
    uint64_t counted = timeline_.threads[thread].state_ns[size_t(task.state)];
    size_t slices = timeline_.threads[thread].slices.size();
    end_wait(thread, timeline_.end_ns);
    TimelineThread& to = timeline_.threads[thread];
    to.state_ns[size_t(task.state)] = counted;
    if (to.slices.size() > slices) to.slices.back().is_cut = true;
  }
}

/// Threads by run time, CPUs by number.
void TimelineBuilder::sort() {
  std::vector<uint32_t> order(timeline_.threads.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) {
    const TimelineThread& thread = timeline_.threads[i];
    return std::tuple(~thread.state_ns[size_t(TaskState::kRunning)], thread.tid);
  });
  std::vector<uint32_t> place(order.size());
  std::vector<TimelineThread> sorted;
  for (uint32_t from : order) {
    place[from] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(timeline_.threads[from]));
  }
  timeline_.threads = std::move(sorted);
  for (TimelineThread& thread : timeline_.threads)
    for (TimelineSlice& slice : thread.slices)
      if (slice.waker != kNoIndex) slice.waker = place[slice.waker];
  for (view::TimelineCpu& cpu : timeline_.cpus)
    for (view::TimelineRun& run : cpu.runs) run.thread = place[run.thread];
  std::ranges::sort(timeline_.cpus, {}, &view::TimelineCpu::cpu);
}

view::Timeline TimelineBuilder::finish() && {
  finish_cpus();
  finish_tasks();
  sort();
  return std::move(timeline_);
}

}  // namespace sonde
