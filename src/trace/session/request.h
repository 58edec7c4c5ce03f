// What a live trace requests from BPF programs, and whether they can provide it.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "capture/recorders/capture_setup.h"
#include "trace/session/options.h"
#include "trace/sources/trace_source.h"

namespace sonde {

/// Why these options need tracepoints to see system calls; empty if BPF programs will do.
[[nodiscard]] std::string why_not_bpf(const TraceOptions& options);
/// For the tasks that a capture was set up for.
Result<TraceRequest> trace_request(const TraceOptions& options, const Capture& capture,
                                   const Env& env);

}  // namespace sonde
