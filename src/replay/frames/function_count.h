// Counts the samples of one function whose name is known in advance. For all other samples it is
// enough to know that they are elsewhere, so they get no frames, and objects that cannot have such
// a function do not load their symbols.
#pragma once

#include <string>

#include "replay/passes/sample_pass.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// Counts by place, like read_samples(). Samples outside functions of that name form one row
/// without a frame per event. `deferred` must have all samples of the recording; their addresses
/// are replaced by places. Every object with samples is loaded in `symbolizer`; those without such
/// a function are loaded without symbols.
SamplePassResult count_function(const EventTable& events, const Machine& machine,
                                DeferredSamples& deferred, const std::string& name,
                                Symbolizer& symbolizer, LossLedger& losses);

}  // namespace sonde
