#include "sched/replay_plan.h"

#include "perfdata/records/sideband.h"

namespace sonde {

SchedKinds ReplayPlan::wanted(const SchedPipeline& pipeline) {
  using enum SchedKind;
  return kinds(kSwitch, pipeline.has(kWaking) ? kWaking : kWakeup, kWakeupNew, kRecord);
}

void ReplayPlan::consume(const SchedEvent& event, const SchedPipeline& pipeline) {
  if (event.kind == SchedKind::kRecord) {
    RecordView record = pipeline.record(event);
    const SampleLayout& layout = pipeline.layout(event);
    names_.apply(record, layout);
    if (record.type != abi::kRecordFork) return;
    auto fork = decode_as<TaskRecord>(record, layout);
    if (!fork) return;
    TaskId parent = names_.find_or_add(fork->ppid, fork->ptid);
    TaskId child = names_.find_or_add(fork->pid, fork->tid);
    return take_fork({names_[parent].tid, names_[parent].name},
                     {names_[child].tid, names_[child].name});
  }
  const EventOffsets& places = pipeline.fields(event);
  Bytes raw = pipeline.raw(event);
  Who leaves{event.task, places.prev_comm.read(raw)}, comes{event.next, places.next_comm.read(raw)};
  if (event.kind == SchedKind::kSwitch) return take_switch(event.time, event.cpu, leaves, comes);
  take_wakeup({event.tid, "<unknown>"}, {event.task, comes.name});
}

void ReplayPlan::take_switch(uint64_t time_ns, uint32_t cpu, const Who& leaves, const Who& comes) {
  if (cpu >= last_switch_ns_.size()) last_switch_ns_.resize(cpu + 1);
  uint64_t before = std::exchange(last_switch_ns_[cpu], time_ns);
  ReplayTask& left = task(leaves);
  run(left, before == 0 || before > time_ns ? 0 : time_ns - before);
  sleep(left);
  number(comes);
}

void ReplayPlan::take_wakeup(const Who& waker, const Who& woken) {
  size_t by = number(waker);
  wake(by, number(woken));
}

void ReplayPlan::take_fork(const Who& parent, const Who& child) {
  number(parent);
  number(child);
}

void ReplayPlan::chain_ends() {
  for (size_t i = 0; i < tasks_.size(); ++i) wake(i, i + 1 == tasks_.size() ? 0 : i + 1);
}

ReplayTask& ReplayPlan::task(const Who& who) {
  return tasks_[number(who)];
}

/// Adds unknown tasks: asleep, in case somebody wakes them.
size_t ReplayPlan::number(const Who& who) {
  auto [found, is_new] = by_tid_.insert({who.tid, static_cast<uint32_t>(tasks_.size())});
  if (is_new) {
    tasks_.push_back({.tid = who.tid, .name = std::string(who.name), .steps = {}});
    sleep(tasks_.back());
  }
  return found->second;
}

void ReplayPlan::run(ReplayTask& task, uint64_t ns) {
  if (!task.steps.empty() && task.steps.back().kind == ReplayStep::Kind::kRun) {
    task.steps.back().run_ns += ns;
    ++counts_.merged_runs;
    return;
  }
  task.steps.push_back({.kind = ReplayStep::Kind::kRun, .run_ns = ns});
  ++counts_.runs;
}

void ReplayPlan::sleep(ReplayTask& task) {
  task.steps.push_back({.kind = ReplayStep::Kind::kSleep});
  ++counts_.sleeps;
}

void ReplayPlan::wake(size_t waker, size_t woken) {
  tasks_[waker].steps.push_back({.kind = ReplayStep::Kind::kWake});
  ReplayStep& last = tasks_[woken].steps.back();
  if (last.kind != ReplayStep::Kind::kSleep) {
    ++counts_.without_target;
    return;
  }
  if (last.signal != ReplayStep::kNoSignal) {
    ++counts_.with_many;
    return;
  }
  last.signal = tasks_[waker].steps.back().signal = signals_++;
  ++counts_.wakeups;
}

}  // namespace sonde
