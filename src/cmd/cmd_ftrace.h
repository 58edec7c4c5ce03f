// The subcommands of `ftrace`, and what they share: the target, and how a tracer is run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/command.h"
#include "ftrace/call_times.h"
#include "ftrace/ftrace_session.h"
#include "ftrace/graph_calls.h"

namespace sonde {

/// -p, --tid, -a, -C, -v: common to all subcommands.
struct FtraceTarget {
  std::string pids, tids, cpus;
  bool all_cpus = false;
  int verbose = 0;

  void declare(FlagTable& flags);
};

struct FtraceRun {
  FtraceTarget target;
  TraceSettings settings;
  uint64_t delay_ms = 0;  // before tracing begins, from the command's start
};

/// Declares -m.
void declare_buffer_size(FlagTable& flags, TraceSettings& settings);

/// Traces the command, or the target, until it ends or the user interrupts, and passes on the
/// tracer's text in pieces. `on_heading` gets the column headings first. Returns the command's exit
/// status. Restores tracefs.
struct FtraceText {
  std::function<void(std::string_view)> on_heading, on_text;
};
Result<int> run_tracer(const FtraceRun& run, const std::vector<std::string>& command,
                       const FtraceText& text, Env& env);

/// Runs function_graph, or reads `input`, text that it printed earlier; losses are counted.
Result<int> trace_calls(FtraceRun run, const std::string& input, const Arguments& arguments,
                        GraphCalls& calls, Env& env);

/// What `latency -b` measures.
struct CallTimesRequest {
  FtraceTarget target;
  std::vector<std::string> functions;
  std::string events;  // "begin,end"
  TimeUnit unit = TimeUnit::kMicroseconds;
};
/// Lets BPF programs accumulate times until the command ends or the user interrupts. Returns the
/// command's exit status.
Result<int> measure_calls(const CallTimesRequest& request, const std::vector<std::string>& command,
                          CallTimes& times, Env& env);

std::unique_ptr<Command> make_ftrace_latency();
std::unique_ptr<Command> make_ftrace_profile();

}  // namespace sonde
