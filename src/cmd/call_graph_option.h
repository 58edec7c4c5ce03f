// The value of --call-graph, of `record` and `trace`.
#pragma once

#include <string_view>

#include "base/error.h"
#include "capture/record_options.h"

namespace sonde {

/// "fp[,FRAMES]", "dwarf[,BYTES][,raw]" or "lbr" into `sampling`. `keep_copies` tells whether raw
/// was said; where it is null that is an error, like everything else that is none of these
/// (kUsage).
Result<> parse_call_graph(std::string_view text, SamplingOptions& sampling, bool* keep_copies);

}  // namespace sonde
