// Times of calls accumulated in the kernel by BPF programs, without a tracer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "ftrace/call_times.h"
#include "ftrace/run.h"

namespace sonde {

/// What `latency -b` measures.
struct CallTimesRequest {
  FtraceTarget target;
  std::vector<std::string> functions;
  std::string events;  // "begin,end"
  CallBuckets buckets;
};
/// Lets BPF programs accumulate times until the command ends or the user interrupts, and has them
/// written. Returns the command's exit status.
Result<int> measure_calls(const CallTimesRequest& request, const std::vector<std::string>& command,
                          Env& env, const std::function<void(const CallTimes&)>& write);

}  // namespace sonde
