// `trace` of what runs now: events are opened, the command is started, and what comes is handed on
// until the end.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "base/sink.h"
#include "cmd/cmd_trace_options.h"

namespace sonde {

/// Gives the exit status: that of the command, 128 + the number of the signal that ended it.
Result<int> trace_live(const TraceOptions& options, Sink& out, Env& env);

}  // namespace sonde
