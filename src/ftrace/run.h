// Runs one of the kernel's tracers over a command or a target, and hands on its text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "ftrace/ftrace_session.h"
#include "ftrace/graph_calls.h"

namespace sonde {

/// -p, --tid, -a, -C, -v: common to all subcommands.
struct FtraceTarget {
  std::string pids, tids, cpus;
  bool all_cpus = false;
  int verbose = 0;
};

struct FtraceRun {
  FtraceTarget target;
  TraceSettings settings;
  uint64_t delay_ms = 0;  // before tracing begins, from the command's start
};

/// Traces the command, or the target, until it ends or the user interrupts, and passes on the
/// tracer's text in pieces. `on_heading` gets the column headings first. `on_end` is called after
/// the last piece; a command that does not end is waited for after that. Returns the command's exit
/// status. Restores tracefs.
struct FtraceText {
  std::function<void(std::string_view)> on_heading, on_text;
  std::function<void()> on_end = [] {};
};
Result<int> run_tracer(const FtraceRun& run, const std::vector<std::string>& command,
                       const FtraceText& text, Env& env);

/// Runs function_graph, or reads `input`, text that it printed earlier; losses are counted. `write`
/// is called when `calls` has all of it.
Result<int> trace_calls(FtraceRun run, const std::string& input,
                        const std::vector<std::string>& command, GraphCalls& calls, Env& env,
                        const std::function<void()>& write);

}  // namespace sonde
