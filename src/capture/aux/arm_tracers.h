// How Arm's tracers are recorded: SPE (perf-arm-spe(1)), and CoreSight's ETM, whose trace cannot be
// decoded without the registers of each CPU's trace unit; the kernel shows them in
// /sys/bus/event_source/devices/cs_etm/cpuN/.
#pragma once

#include "capture/aux/tracer.h"

namespace sonde {

Result<> plan_arm_spe(const TracerSetting& setting);

/// Errors: a sink (`@NAME` of the event) that there is not, trace units that lack what is needed to
/// tell tasks and times, or that are older than ETMv4.
Result<> plan_core_sight(const TracerSetting& setting);

}  // namespace sonde
