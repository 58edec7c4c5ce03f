// The subcommands of `ftrace`, and what they share: whom they look at, and how a tracer is run.
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

/// -p, --tid, -a, -C, -v: of every subcommand.
struct FtraceTarget {
  std::string pids, tids, cpus;
  bool all_cpus = false;
  int verbose = 0;

  void declare(FlagTable& flags);
};

struct FtraceRun {
  FtraceTarget target;
  TraceSettings settings;
  uint64_t delay_ms = 0;  // of the tracing, from the command's start on
};

/// Declares -m.
void declare_buffer_size(FlagTable& flags, TraceSettings& settings);

/// Traces the command, or what the target says, until that ends or the user interrupts it, and
/// hands over the tracer's text in pieces. `on_heading` gets the headings of its columns first.
/// Gives the command's exit status. tracefs is then as it was.
struct FtraceText {
  std::function<void(std::string_view)> on_heading, on_text;
};
Result<int> run_tracer(const FtraceRun& run, const std::vector<std::string>& command,
                       const FtraceText& text, Env& env);

/// Runs function_graph, or reads `input`, a text that it printed before; the losses are counted.
Result<int> trace_calls(FtraceRun run, const std::string& input, const Arguments& arguments,
                        GraphCalls& calls, Env& env);

/// What `latency -b` measures.
struct CallTimesRequest {
  FtraceTarget target;
  std::vector<std::string> functions;
  std::string events;  // "begin,end"
  TimeUnit unit = TimeUnit::kMicroseconds;
};
/// Has BPF programs add up until the command ends or the user interrupts. Gives the command's exit
/// status.
Result<int> measure_calls(const CallTimesRequest& request, const std::vector<std::string>& command,
                          CallTimes& times, Env& env);

std::unique_ptr<Command> make_ftrace_latency();
std::unique_ptr<Command> make_ftrace_profile();

}  // namespace sonde
