// The hottest paths through branches (streams) of two recordings: those that both have, side by
// side, then those of only one (diff --stream).
#pragma once

#include "base/sink.h"
#include "report/diff/input.h"

namespace sonde::diff {

/// Streams of the baseline's event `event` and of the same event of the other recording, or null.
/// The recordings must have been opened with DiffOptions::streams.
void write_streams(Sink& out, const report::EventReport& event, const report::EventReport* other);

}  // namespace sonde::diff
