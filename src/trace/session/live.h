// Live `trace`: opens the events, starts the command, and passes on what arrives until the end.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "base/sink.h"
#include "trace/session/options.h"

namespace sonde {

/// Returns the exit status: that of the command, or 128 + the number of the signal that ended it.
Result<int> trace_live(const TraceOptions& options, Sink& out, Env& env);

}  // namespace sonde
