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

TimelineBuilder::TimelineBuilder(const SwitchCoverage& coverage) : coverage_(coverage.kind) {
  timeline_.partial = coverage.partial;
  for (const SchedLoss& loss : coverage.losses) losses_[loss.cpu].push_back(loss.time_ns);
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

// Events that are missing.

/// Whether the kernel dropped events of the CPU in this time. It says so in a record that it writes
/// with the next event for which there is room, and whose time it takes a moment after that
/// event's: the loss may lie before an event that seems to precede it.
bool TimelineBuilder::has_loss(uint32_t cpu, uint64_t from_ns, uint64_t to_ns) const {
  constexpr uint64_t kMomentNs = 10'000;
  for (uint32_t ring : {timeline_.cpus[cpu].cpu, UINT32_MAX}) {
    auto found = losses_.find(ring);
    if (found == losses_.end()) continue;
    auto loss = std::ranges::lower_bound(found->second, from_ns);
    if (loss != found->second.end() && *loss <= to_ns + kMomentNs) return true;
  }
  return false;
}

/// Whether the thread came to the CPU with its last switch, and was not seen elsewhere since.
bool TimelineBuilder::runs_here(uint32_t tid, uint32_t cpu) const {
  if (tid == 0) return true;
  auto found = by_tid_.find(tid);
  if (found == by_tid_.end()) return false;
  const Task& task = tasks_[found->second];
  return task.is_known && task.state == TaskState::kRunning &&
         task.cpu == timeline_.cpus[cpu].cpu && task.since_ns == cpus_[cpu].last_ns;
}

/// Whether all events of the CPU before its first switch and after its last would have been
/// recorded.
bool TimelineBuilder::are_ends_known(const Cpu& at) const {
  return coverage_ != SwitchCoverage::Kind::kUnknown || at.has_pair;
}

void TimelineBuilder::note_unknown(uint32_t cpu, uint64_t start_ns, uint64_t end_ns) {
  if (start_ns >= end_ns) return;
  timeline_.unknown.push_back({.start_ns = start_ns,
                               .end_ns = end_ns,
                               .cpu = timeline_.cpus[cpu].cpu,
                               .is_loss = has_loss(cpu, start_ns, end_ns)});
}

/// A thread that was to run on the CPU left it unseen: nothing is known of it until its next event.
void TimelineBuilder::forget(uint32_t tid, uint32_t cpu) {
  if (tid != 0 && runs_here(tid, cpu)) tasks_[index_of(tid)].is_known = false;
}

/// Whether the thread that leaves ran since the switch before. If not, the time between them is
/// unknown.
bool TimelineBuilder::follows(const SchedSwitch& event, uint32_t cpu) {
  Cpu& at = cpus_[cpu];
  ++pairs_;
  bool agrees = at.current == event.prev_tid && runs_here(event.prev_tid, cpu);
  if (!agrees) ++contradictions_;
  if (agrees && !has_loss(cpu, at.last_ns, event.time_ns)) return at.has_pair = true;
  note_unknown(cpu, at.last_ns, event.time_ns);
  at.unknown_ns += event.time_ns - at.last_ns;
  forget(at.current, cpu);
  return false;
}

// Events.

void TimelineBuilder::add(const SchedSwitch& event) {
  note_time(event.time_ns);
  uint32_t cpu = cpu_index(event.cpu);
  bool is_run_known = cpus_[cpu].seen && follows(event, cpu);
  leave(event, cpu, is_run_known);
  come(event);
  Cpu& at = cpus_[cpu];
  if (!at.seen) at.first_ns = event.time_ns;
  at.seen = true;
  at.last_ns = event.time_ns;
  at.current = event.next_tid;
}

void TimelineBuilder::add_run(uint32_t thread, uint32_t cpu, TimelineSlice slice, bool at_front) {
  std::vector<TimelineSlice>& slices = timeline_.threads[thread].slices;
  view::TimelineCpu& at = timeline_.cpus[cpu];
  slice.state = TaskState::kRunning;
  slice.cpu = at.cpu;
  view::TimelineRun run = {
      .start_ns = slice.start_ns, .end_ns = slice.end_ns, .thread = thread, .is_cut = slice.is_cut};
  slices.insert(at_front ? slices.begin() : slices.end(), slice);
  at.runs.insert(at_front ? at.runs.begin() : at.runs.end(), run);
}

/// Ends a wait; a no-op for a running thread. `is_cut`: it went on, for an unknown time.
void TimelineBuilder::end_wait(uint32_t thread, uint64_t end_ns, bool is_cut) {
  const Task& task = tasks_[thread];
  if (!task.is_known || task.state == TaskState::kRunning || end_ns <= task.since_ns) return;
  // On a CPU that was not recorded, the thread may have run in between.
  if (coverage_ == SwitchCoverage::Kind::kSomeCpus) return;
  TimelineSlice& slice = timeline_.threads[thread].slices.emplace_back();
  slice.start_ns = task.since_ns;
  slice.end_ns = end_ns;
  slice.state = task.state;
  slice.is_cut = is_cut;
  slice.cpu = task.cpu;
  slice.stack = task.stack;
  slice.waker = task.waker;
  slice.waker_stack = task.waker_stack;
}

/// With the first switch of its CPU. A thread of which nothing else is known ran there since the
/// beginning; one that was seen before came unseen.
void TimelineBuilder::leave_first(uint32_t thread, Cpu& at) {
  const Task& task = tasks_[thread];
  at.is_start_known = !task.is_known && !task.was_switched;
  if (at.is_start_known) at.at_start = thread;
}

void TimelineBuilder::leave(const SchedSwitch& event, uint32_t cpu, bool is_run_known) {
  if (event.prev_tid == 0) return;
  Cpu& at = cpus_[cpu];
  uint32_t thread = index_of(event.prev_tid);
  if (!at.seen) {
    leave_first(thread, at);
  } else if (is_run_known) {
    add_run(thread, cpu, {.start_ns = at.last_ns, .end_ns = event.time_ns}, false);
  } else {
    // It came unseen, but not before the last switch there.
    end_wait(thread, at.last_ns, true);
  }
  Task& task = tasks_[thread];
  LeftAs left = left_as(event.prev_state);
  if (left == LeftAs::kEnded) timeline_.threads[thread].ended_ns = event.time_ns;
  task.is_known = left != LeftAs::kEnded;
  task.was_switched = true;
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
  end_wait(thread, event.time_ns, false);
  ++timeline_.threads[thread].runs;
  timeline_.threads[thread].ended_ns = 0;  // another thread with the same number
  task = {.is_known = true,
          .was_switched = true,
          .state = TaskState::kRunning,
          .since_ns = event.time_ns,
          .cpu = event.cpu};
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
  end_wait(thread, event.time_ns, false);
  task.woken_early = false;
  task.is_known = true;
  task.state = TaskState::kRunnable;
  task.since_ns = event.time_ns;
}

// The ends of the recording.

/// The thread that ran from the beginning to the CPU's first switch.
void TimelineBuilder::finish_start(uint32_t cpu) {
  const Cpu& at = cpus_[cpu];
  uint64_t start_ns = timeline_.start_ns;
  if (!at.is_start_known || !are_ends_known(at) || has_loss(cpu, start_ns, at.first_ns))
    return note_unknown(cpu, start_ns, at.first_ns);
  if (at.at_start != kNoIndex && start_ns < at.first_ns)
    add_run(at.at_start, cpu, {.start_ns = start_ns, .end_ns = at.first_ns, .is_cut = true}, true);
}

/// The thread that still runs when the recording ends.
void TimelineBuilder::finish_end(uint32_t cpu) {
  const Cpu& at = cpus_[cpu];
  timeline_.cpus[cpu].watched_ns = at.last_ns - at.first_ns - at.unknown_ns;
  bool is_known = are_ends_known(at) && !has_loss(cpu, at.last_ns, timeline_.end_ns) &&
                  runs_here(at.current, cpu);
  if (!is_known)
    note_unknown(cpu, at.last_ns, timeline_.end_ns);
  else if (at.current != 0 && at.last_ns < timeline_.end_ns)
    add_run(index_of(at.current), cpu,
            {.start_ns = at.last_ns, .end_ns = timeline_.end_ns, .is_cut = true}, false);
}

/// Ends the waits still going on then. Of a thread that was only woken it is not known whether it
/// waited: it may have been running, and about to sleep.
void TimelineBuilder::finish_tasks() {
  for (uint32_t thread = 0; thread < tasks_.size(); ++thread) {
    const Task& task = tasks_[thread];
    auto left = by_cpu_.find(task.cpu);
    if (task.was_switched && left != by_cpu_.end() && are_ends_known(cpus_[left->second]))
      end_wait(thread, timeline_.end_ns, true);
  }
}

/// Where the kernel dropped events, a thread that waited may have been woken and have run.
void TimelineBuilder::cut_waits_at_losses() {
  std::vector<view::TimelineUnknown> losses;
  std::ranges::copy_if(timeline_.unknown, std::back_inserter(losses),
                       &view::TimelineUnknown::is_loss);
  if (losses.empty()) return;
  // Those of all CPUs overlap: the furthest end so far finds the first that reaches into a wait.
  for (size_t i = 1; i < losses.size(); ++i)
    losses[i].end_ns = std::max(losses[i].end_ns, losses[i - 1].end_ns);
  for (TimelineThread& thread : timeline_.threads) {
    for (TimelineSlice& slice : thread.slices) {
      if (slice.state == TaskState::kRunning) continue;
      auto loss =
          std::ranges::upper_bound(losses, slice.start_ns, {}, &view::TimelineUnknown::end_ns);
      if (loss == losses.end() || loss->start_ns >= slice.end_ns) continue;
      slice.end_ns = std::max(slice.start_ns, loss->start_ns);
      slice.is_cut = true;
      slice.waker = slice.waker_stack = kNoIndex;
    }
    std::erase_if(thread.slices, [](const TimelineSlice& slice) {
      return slice.is_cut && slice.start_ns == slice.end_ns;
    });
  }
}

void TimelineBuilder::add_up() {
  for (TimelineThread& thread : timeline_.threads)
    for (const TimelineSlice& slice : thread.slices)
      if (!slice.is_cut) thread.state_ns[size_t(slice.state)] += slice.end_ns - slice.start_ns;
  for (view::TimelineCpu& cpu : timeline_.cpus)
    for (const view::TimelineRun& run : cpu.runs)
      if (!run.is_cut) cpu.busy_ns += run.end_ns - run.start_ns;
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
  // Waits first: a thread that runs when the recording ends is not among them.
  finish_tasks();
  for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    finish_start(cpu);
    finish_end(cpu);
  }
  std::ranges::stable_sort(timeline_.unknown, {}, &view::TimelineUnknown::start_ns);
  cut_waits_at_losses();
  add_up();
  sort();
  return std::move(timeline_);
}

}  // namespace sonde
