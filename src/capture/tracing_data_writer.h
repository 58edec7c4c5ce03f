// The TRACING_DATA section of a recording: the formats of the tracepoints that were recorded, as
// this kernel's tracefs has them. The inverse of perfdata/tracing_data.h.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "event/tracefs.h"

namespace sonde {

/// Each tracepoint once, grouped by system in the order given. Errors: the text of
/// Tracefs::explain.
Result<std::vector<std::byte>> tracing_data(const std::vector<TracepointName>& tracepoints,
                                            Tracefs& tracefs);

}  // namespace sonde
