// What a request means for the BPF programs: numbers, threads and tracepoints, and the rules by
// which memory is read.
#pragma once

#include <vector>

#include "base/error.h"
#include "bpf/syscall_trace.h"
#include "bpf/traced_calls.h"
#include "trace/trace_source.h"

namespace sonde {

/// Threads of the request's processes, as /proc shows them at this moment, and its threads.
[[nodiscard]] std::vector<uint32_t> threads_asked_for(const TraceRequest& request);
/// kNotFound: none of the processes and threads that are asked for is there.
Result<TracedCalls> traced_calls(const TraceRequest& request);
/// Of the calls that are asked for.
[[nodiscard]] std::vector<SyscallTrace::CallRules> rules_for(const TraceRequest& request,
                                                             const TracedCalls& calls);

}  // namespace sonde
