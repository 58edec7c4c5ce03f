// The events that a live trace opens: those of calls, page faults, run times, and the user's own.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "cmd/cmd_trace_options.h"

namespace sonde {

struct TraceEvents {
  RecordOptions record;                 // ready for set_up_capture
  size_t call_events = 0;               // the first so many are there to see calls
  std::vector<uint64_t> max_per_event;  // nr=, by event; 0: no end
};

/// `calls_by_tracepoints`: false where another source sees the calls.
Result<TraceEvents> make_trace_events(const TraceOptions& options, bool calls_by_tracepoints,
                                      Env& env);

/// The kernel's filter for samples of raw_syscalls: "id == 43 || id == 288"; empty where all calls
/// are meant.
[[nodiscard]] std::string call_filter(const CallChoice& choice, SyscallAbi abi);

/// Our own process, and those through which its output goes to the user's terminal: to trace them
/// would never end.
[[nodiscard]] std::vector<int32_t> own_processes();

}  // namespace sonde
