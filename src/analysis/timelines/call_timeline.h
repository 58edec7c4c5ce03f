// The calls of every thread from a recording's instruction traces: which function ran when, from
// its entry to its return.
//
//   options.itrace = call_timeline_trace();
//   CallTimeline calls = TRY(call_timeline_of(session));
//
// Traces tell the time now and then, and the order of everything between. What happened between two
// times is spread evenly over them.
#pragma once

#include "base/error.h"
#include "itrace/options.h"
#include "replay/session.h"
#include "view/timeline.h"

namespace sonde {

/// What a session must make of traces for this: every branch, and errors.
[[nodiscard]] ItraceOptions call_timeline_trace();

struct CallTimeline {
  view::Timeline timeline;  // of subject kCalls, without CPUs
  uint64_t errors = 0;      // where the trace could not be followed: calls around them are cut
};

/// Loads the symbols of all objects. Fails with kFailed if the recording has no traces.
Result<CallTimeline> call_timeline_of(Session& session);

}  // namespace sonde
