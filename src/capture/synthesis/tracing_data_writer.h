// The TRACING_DATA section of a recording: the formats of the recorded tracepoints, as in this
// kernel's tracefs. The inverse of perfdata/header/tracing_data.h.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

/// Each tracepoint once, grouped by system in the given order. Errors: the text of
/// Tracefs::explain.
Result<std::vector<std::byte>> tracing_data(const std::vector<TracepointName>& tracepoints,
                                            Tracefs& tracefs);

}  // namespace sonde
