// The value of --call-graph, for `record`, `top` and `trace`.
#pragma once

#include <string_view>

#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Parses "fp[,FRAMES]", "dwarf[,BYTES][,raw]", "lbr" or "bpf[[,BYTES],raw]" into `sampling`.
/// `keep_copies` tells whether raw was given; if it is null, raw is an error (kUsage).
Result<> parse_call_graph(std::string_view text, SamplingOptions& sampling, bool* keep_copies);

}  // namespace sonde
