// The value of --call-graph, for `record`, `top` and `trace`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "bpf/unwinding/stack_walker.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Parses "fp[,FRAMES]", "dwarf[,BYTES][,raw]", "lbr" or "bpf[[,BYTES],raw]" into `sampling`.
/// `keep_copies` tells whether raw was given; if it is null, raw is an error (kUsage).
Result<> parse_call_graph(std::string_view text, SamplingOptions& sampling, bool* keep_copies);

/// `-g`, and what implies it: which way is taken if none is named (CallGraphMode::kBest). That of
/// the setting call-graph.record-mode; else under the name perf frame pointers, as there, and under
/// ours the best that works here, which is said in a line.
class CallGraphDefault {
 public:
  /// Reads the setting. Errors: what --call-graph would say of it.
  Result<> configure(const Config& config);
  /// Settles the mode. `why_no_copies`: why stack copies are of no use (call_graph_choice.h).
  /// `keep_copies`: as parse_call_graph's. `subject`: the command, for the line. A walker that is
  /// chosen belongs to this object, which must outlive the recording.
  Result<> settle(RecordOptions& options, std::string_view why_no_copies, bool* keep_copies,
                  std::string_view subject, Env& env);

 private:
  std::string configured_;  // empty: nothing is
  std::optional<StackWalker> walker_;
};

}  // namespace sonde
