// Gates: limits on how much worse a metric may become, as `stat --gate` accepts them.
//
//   parse_gates("task-clock>2%,page-faults>0")   two of them
//
// A gate is exceeded if the runs show that B is above A by more than the limit, not merely if the
// median is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/comparison/run_comparison.h"
#include "base/error.h"

namespace sonde {

struct Gate {
  std::string text;    // as written
  std::string metric;  // an event's name, "elapsed", "user" or "sys"
  GateLimit limit;
};

/// Limits are separated by commas; commas between slashes (cpu/event=1,umask=2/) don't separate.
/// Errors: kUsage.
Result<std::vector<Gate>> parse_gates(std::string_view list);

}  // namespace sonde
