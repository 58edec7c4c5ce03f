// From parsed events to attrs that count: nothing is sampled, values come with the times that they
// were enabled and running, groups are read as one. Pure, as event_config.h is for recording.
#pragma once

#include <vector>

#include "base/error.h"
#include "capture/capture_event.h"
#include "capture/count_options.h"
#include "capture/target.h"

namespace sonde {

std::vector<CaptureEvent> configure_counters(const CountOptions& options, const Target& target);

/// Where counters are opened: on the tasks, whatever the CPU; or on CPUs, whatever the task.
/// Combinations that exclude each other are settled as by resolve_target.
Result<Target> resolve_count_target(const TargetOptions& options,
                                    std::vector<std::string>& warnings);

}  // namespace sonde
