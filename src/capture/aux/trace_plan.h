// TracePlan: how the one event of a recording that writes an AUX area is recorded: what else must
// be recorded for its trace to be decoded, and how large the area is. The rules are perf's
// (perf-intel-pt(1)):
//
//   - the tracing event comes first, because the AUX area belongs to the event that owns the ring;
//   - which thread ran on a CPU is told by context switches, of the whole CPU where that is allowed
//     (have_switches), else of the recorded threads;
//   - mappings and tasks are told by a dummy of their own, so that they are while the trace stops;
//   - where the kernel is traced, changes of its code are recorded (text_pokes).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/event_config.h"
#include "capture/opening/target.h"
#include "capture/recorders/record_options.h"
#include "event/pmu/pmu.h"

struct perf_event_mmap_page;

namespace sonde {

struct TracePlan {
  TraceCompanions companions;
  uint32_t pmu_type = 0;
  size_t area_bytes = 0;
  std::optional<size_t> snapshot_bytes;  // set: snapshots only, of at most that size
  std::vector<uint64_t> info;            // AUXTRACE_INFO's words; the clock is not yet known
};

/// Whether the recorder must plan for this event.
[[nodiscard]] bool is_trace_event(const ParsedEvent& event);

/// Moves the tracing event to the front of `list` (`cgroups`, by event, along) and completes its
/// attr. Nothing if there is none. Errors: several of them, or options that they exclude; also if
/// there is none but `options` need one.
Result<std::optional<TracePlan>> plan_trace(const RecordOptions& options, const Target& target,
                                            PmuCatalog& pmus, Sys& sys, EventList& list,
                                            std::vector<std::string>& cgroups);

/// The numbers of AUXTRACE_INFO for Intel PT, without the clock.
std::vector<uint64_t> intel_pt_info(const Pmu& pmu, const ParsedEvent& event, const TracePlan& plan,
                                    bool per_cpu);
/// Puts in how the time stamp counter is converted, as the control page of a ring says.
void set_trace_clock(const perf_event_mmap_page& page, std::vector<uint64_t>& info);

}  // namespace sonde
