// Which task a CPU runs when, by the records of context switches; or the one that a buffer belongs
// to.
#pragma once

#include <span>

#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"
#include "machine/machine.h"

namespace sonde::itrace {

class QueueTasks final : public TaskTimeline {
 public:
  /// `tid` is that of a buffer of a thread, whose `cpu` is UINT32_MAX. `input` must outlive it.
  QueueTasks(const TraceInput& input, uint32_t cpu, uint32_t tid, const Machine& machine);
  Task task_at(uint64_t time_ns) override;

 private:
  Task first_;
  std::span<const TaskSwitch> switches_;
  size_t at_ = 0;  // switches up to the latest time
};

}  // namespace sonde::itrace
