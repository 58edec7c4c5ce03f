// From parsed events to attrs that count: nothing is sampled, values come with their enabled and
// running times, and groups are read as one. Pure, like event_config.h for recording.
#pragma once

#include <vector>

#include "base/error.h"
#include "capture/counters/count_options.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"

namespace sonde {

std::vector<CaptureEvent> configure_counters(const CountOptions& options, const Target& target);

/// Where counters are opened: on the tasks, on any CPU; or on CPUs, for any task. Mutually
/// exclusive combinations are resolved as in resolve_target.
Result<Target> resolve_count_target(const TargetOptions& options,
                                    std::vector<std::string>& warnings);

}  // namespace sonde
