// What this machine lets this user measure.
#pragma once

#include <string>
#include <vector>

#include "base/sys.h"
#include "doctor/finding.h"

namespace sonde::doctor {

struct MachineChecks {
  Sys& sys;
  std::string root;  // of /proc, /sys and /etc; tests have their own
  std::string debuginfod_urls;
};

/// perf_event_open is really called; files are really read.
[[nodiscard]] std::vector<Finding> examine_machine(const MachineChecks& checks);

}  // namespace sonde::doctor
