// Everything a recording holds in the kernel: the target, the command waiting to run, the opened
// events and their rings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "capture/aux/trace_rings.h"
#include "capture/control/workload.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"
#include "capture/recorders/record_options.h"
#include "capture/rings/ring_set.h"

namespace sonde {

struct Capture {
  Target target;
  std::optional<Workload> workload;
  std::vector<CaptureEvent> events;
  std::vector<Fd> cgroups;
  std::optional<RingSet> rings;
  size_t ring_pages = 0;
  std::optional<TracePlan> trace;         // of an event that writes AUX areas
  std::optional<TraceRings> trace_rings;  // those areas; refers to `events`
  std::vector<GuestLayout> guests;

  [[nodiscard]] std::vector<abi::EventAttr> attrs() const;
};

/// Opens everything. Nothing counts yet except immediate events, and the command does not run yet.
/// `pipe_output`: the recording goes to stdout, which the command must leave alone.
Result<Capture> set_up_capture(const RecordOptions& options, bool pipe_output, Env& env);

/// Assigns each event its cgroup, in order; there may be fewer names than events, or none.
Result<> assign_cgroups(const std::vector<std::string>& names, Capture& capture);
/// Passes the filters of --filter to the kernel.
Result<> apply_filters(Sys& sys, const std::vector<CaptureEvent>& events);

/// "Warning:\n…" and notes on stderr, unless --quiet.
void say(const RecordOptions& options, Env& env, std::string_view text);

}  // namespace sonde
