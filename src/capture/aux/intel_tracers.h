// How Intel's tracers are recorded: Processor Trace (perf-intel-pt(1)), and the Branch Trace Store
// (perf record(1)), which traces threads only and has no times of its own.
#pragma once

#include "capture/aux/tracer.h"

struct perf_event_mmap_page;

namespace sonde {

/// Error: settings that the processor does not have.
Result<> plan_intel_pt(const TracerSetting& setting);
/// Error: whole CPUs.
Result<> plan_intel_bts(const TracerSetting& setting);

/// Puts in how the time stamp counter is converted, as the control page of a ring says; where it
/// doesn't, the plan gets a warning. Nothing for other tracers.
void set_trace_clock(const perf_event_mmap_page& page, TracePlan& plan);

}  // namespace sonde
