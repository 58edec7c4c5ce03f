// The scheduler's counters (/proc/schedstat) before and after a command, and those of a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/control/measured_command.h"
#include "perfdata/read/file_scan.h"
#include "sched/schedstat.h"

namespace sonde {

struct SchedstatRun {
  Schedstat before, after;
  int status = 0;                               // the command's exit status
  std::optional<MeasuredCommand> command = {};  // it may go on
};

/// Runs `command`, or waits for an interrupt if it is empty; the kernel counts meanwhile.
/// kUnsupported if this kernel has no such counters, kPermission if they are off and cannot be
/// enabled.
Result<SchedstatRun> measure_schedstat(const std::vector<std::string>& command, Env& env);

/// The run as a recording: both snapshots as records, and the scheduling domains.
Result<> write_schedstat_file(const std::string& path, const SchedstatRun& run, const Env& env);

/// The counts between a recording's first and last snapshot; damaged records are losses.
Result<Schedstat> schedstat_of_file(const std::string& path, const OpenOptions& options, Env& env);

}  // namespace sonde
