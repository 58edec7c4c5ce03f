// What a request means for the BPF programs: numbers, threads and tracepoints, and the rules by
// which memory is read.
#pragma once

#include <vector>

#include "base/error.h"
#include "bpf/syscall_trace.h"
#include "bpf/traced_calls.h"
#include "trace/sources/trace_source.h"

namespace sonde {

/// The threads that the request names, and all threads of its processes as /proc lists them now.
[[nodiscard]] std::vector<uint32_t> threads_asked_for(const TraceRequest& request);
/// kNotFound if none of the requested processes and threads exists.
Result<TracedCalls> traced_calls(const TraceRequest& request);
/// The rules for the requested calls.
[[nodiscard]] std::vector<SyscallTrace::CallRules> rules_for(const TraceRequest& request,
                                                             const TracedCalls& calls);

}  // namespace sonde
