// Gates: limits on how much worse a metric may become, as `stat --gate` takes them.
//
//   parse_gates("task-clock>2%,page-faults>0")   two of them
//
// A gate is exceeded where the runs show that B is more than so much above A: not where a median
// happens to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_comparison.h"
#include "base/error.h"

namespace sonde {

struct Gate {
  std::string text;    // as it was written
  std::string metric;  // an event's name, "elapsed", "user" or "sys"
  GateLimit limit;
};

/// Limits divided by commas; commas between slashes (cpu/event=1,umask=2/) divide nothing. Errors:
/// kUsage.
Result<std::vector<Gate>> parse_gates(std::string_view list);

}  // namespace sonde
