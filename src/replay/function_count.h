// The samples of one function, whose name is known before: of all the others it is enough to know
// that they fell elsewhere, so they get no frames, and objects that cannot have such a function
// are not asked for their symbols.
#pragma once

#include <string>

#include "replay/sample_pass.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// Counts by place, as read_samples() does; what fell on no function of that name is a row without
/// a frame, one per event. `tapped` has all samples of the recording; their addresses become
/// places. Every object with samples is loaded in `symbolizer`, those that have no such function
/// without symbols.
SamplePassResult count_function(const EventTable& events, const Machine& machine,
                                TappedSamples& tapped, const std::string& name,
                                Symbolizer& symbolizer, LossLedger& losses);

}  // namespace sonde
