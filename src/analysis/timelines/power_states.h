// How deeply CPUs slept and how fast they ran, from power:cpu_idle and power:cpu_frequency
// (include/trace/events/power.h), added to a timeline.
#pragma once

#include "base/loss.h"
#include "perfdata/read/file_scan.h"
#include "view/timeline.h"

namespace sonde {

/// Whether a recording has either event.
[[nodiscard]] bool has_power_states(const EventTable& events);

/// Adds to the CPUs of `timeline`, and adds CPUs that it lacks; its time range grows as needed.
/// `scan` must be at its start.
void add_power_states(view::Timeline& timeline, FileScan& scan, LossLedger& losses);

}  // namespace sonde
