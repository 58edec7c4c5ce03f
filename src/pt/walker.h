// The two ways to follow a trace, which tell an observer the same: our own walk, which is several
// times as fast, and libipt, which knows more kinds of packets and the errata of processors.
// flow_decoder.h chooses.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "pt/flow_decoder.h"
#include "pt/walk_quirks.h"

namespace sonde::pt {

/// The trace must be one that TraceReader knows (trace_contents.h).
void walk(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks, CodeReader& code,
          FlowObserver& observer);

/// Without libipt: kUnsupported.
Result<> follow_by_libipt(Bytes trace, const TraceSetup& setup, CodeReader& code,
                          FlowObserver& observer);

}  // namespace sonde::pt
