// What a live trace asks of BPF programs, and whether they can serve it.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "capture/capture_setup.h"
#include "cmd/cmd_trace_options.h"
#include "trace/trace_source.h"

namespace sonde {

/// Why these options take tracepoints for calls; empty where BPF programs can see them.
[[nodiscard]] std::string why_not_bpf(const TraceOptions& options);
/// Of the tasks that a capture was set up for.
Result<TraceRequest> trace_request(const TraceOptions& options, const Capture& capture,
                                   const Env& env);

}  // namespace sonde
