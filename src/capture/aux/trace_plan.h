// TracePlan: how the one event of a recording that writes an AUX area is recorded: what else must
// be recorded for its trace to be decoded, and how large the area is. The rules are perf's
// (perf-intel-pt(1), perf-arm-spe(1)); each kind of tracer has its own (intel_tracers.h,
// arm_tracers.h), and these are common:
//
//   - the tracing event comes first, because the AUX area belongs to the event that owns the ring;
//   - which thread ran on a CPU is told by context switches, of the whole CPU where that is allowed
//     (have_switches), else of the recorded threads;
//   - the area's newest bytes become part of the samples of events in the tracer's group that have
//     a size for them (--aux-sample, aux-sample-size=); it is then not read otherwise;
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

namespace sonde {

struct TracePlan {
  std::string_view tracer;  // in words: "Intel BTS"
  uint32_t info_type = 0;   // AUXTRACE_INFO's
  TraceCompanions companions = {};
  size_t area_bytes = 0;
  std::optional<size_t> snapshot_bytes = {};  // set: snapshots only, of at most that size
  bool is_sampled = false;                    // only what samples have is kept
  uint32_t least_sample = 0;                  // bytes, if so
  std::vector<uint64_t> info = {};            // AUXTRACE_INFO's words; the clock is not yet known
  std::vector<std::string> warnings = {};

  /// The area is written over and over, not read as it fills.
  [[nodiscard]] bool is_overwritten() const { return snapshot_bytes.has_value() || is_sampled; }
};

/// Whether the recorder must plan for this event.
[[nodiscard]] bool is_trace_event(const ParsedEvent& event);

/// Moves the tracing event to the front of `list` (`cgroups`, by event, along) and completes its
/// attr. Nothing if there is none. Errors: several of them, or options that they exclude; also if
/// there is none but `options` need one.
Result<std::optional<TracePlan>> plan_trace(const RecordOptions& options, const Target& target,
                                            PmuCatalog& pmus, Sys& sys, EventList& list,
                                            std::vector<std::string>& cgroups);

}  // namespace sonde
