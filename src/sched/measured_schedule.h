// What the kernel accumulates about its scheduler while a command runs, or until interrupted:
// `sched record --summary`, `sched latency --live`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "bpf/sched_totals.h"
#include "capture/control/measured_command.h"

namespace sonde {

struct MeasuredSchedule {
  std::vector<SchedSum> sums;  // ordered by each thread's last event
  uint64_t lost = 0;           // threads, and events of threads, for which there was no room
  int status = 0;              // of the command
  std::optional<MeasuredCommand> command = {};  // it may go on
};

/// Of the whole machine. kNotFound if `command` cannot be run.
Result<MeasuredSchedule> measure_schedule(const std::vector<std::string>& command, Env& env);

}  // namespace sonde
