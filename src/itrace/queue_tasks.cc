#include "itrace/queue_tasks.h"

#include <algorithm>

namespace sonde::itrace {

QueueTasks::QueueTasks(const TraceInput& input, uint32_t cpu, uint32_t tid,
                       const Machine& machine) {
  uint32_t pid = tid;
  if (const Machine::Thread* thread = machine.thread(tid)) pid = thread->pid;
  first_ = {pid, tid};
  if (cpu == UINT32_MAX) return;
  auto begin = std::ranges::lower_bound(input.switches, cpu, {}, &TaskSwitch::cpu);
  auto end = std::ranges::upper_bound(input.switches, cpu, {}, &TaskSwitch::cpu);
  switches_ = {begin, end};
}

TaskTimeline::Task QueueTasks::task_at(uint64_t time_ns) {
  bool is_later = at_ < switches_.size() && switches_[at_].time_ns <= time_ns;
  bool is_earlier = at_ > 0 && time_ns < switches_[at_ - 1].time_ns;
  // Times of a damaged trace go back and forth.
  if (is_later || is_earlier) {
    auto after = std::ranges::upper_bound(switches_, time_ns, {}, &TaskSwitch::time_ns);
    at_ = static_cast<size_t>(after - switches_.begin());
  }
  if (at_ == 0) return first_;
  const TaskSwitch& now = switches_[at_ - 1];
  return {now.pid, now.tid, 1 + uint64_t{now.moves}};
}

}  // namespace sonde::itrace
