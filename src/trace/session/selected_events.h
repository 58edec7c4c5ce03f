// The events that a live trace opens: for system calls, page faults, run times, and the user's own.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "trace/session/options.h"

namespace sonde {

struct TraceEvents {
  RecordOptions record;                 // ready for set_up_capture
  size_t call_events = 0;               // the first this many serve to see system calls
  std::vector<uint64_t> max_per_event;  // nr=, per event; 0: unlimited
};

/// `calls_by_tracepoints`: false if another source provides the system calls.
Result<TraceEvents> make_trace_events(const TraceOptions& options, bool calls_by_tracepoints,
                                      Env& env);

/// The kernel filter for raw_syscalls samples: "id == 43 || id == 288"; empty if all system calls
/// are wanted.
[[nodiscard]] std::string call_filter(const CallFilter& choice, SyscallAbi abi);

/// Our own process, and those that carry its output to the user's terminal: tracing them would
/// never end.
[[nodiscard]] std::vector<int32_t> own_processes();

}  // namespace sonde
