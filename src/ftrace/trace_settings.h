// The tracefs settings of `ftrace`, as the files and words to write
// (Documentation/trace/ftrace.rst).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct TraceSettings {
  std::string tracer;  // "function_graph", "function", or any other of the kernel's
  std::vector<std::string> functions, not_functions;              // names or globs
  std::vector<std::string> graph_functions, not_graph_functions;  // and what they call
  std::vector<pid_t> tids;                                        // empty: all threads
  std::vector<int> cpus;                                          // empty: all
  uint64_t buffer_bytes = 0;                                      // per CPU; 0: unchanged
  bool inherit = false;                                           // threads and children, too
  // for the function tracer
  bool call_graph = false, irq_info = false;
  // for function_graph
  bool no_sleep_time = false, no_irqs = false, verbose = false, tail = false;
  bool arguments = false, return_value = false, return_value_hex = false, return_address = false;
  uint64_t threshold_us = 0, depth = 0;

  /// Whether `tids` applies; other tracers cover the whole machine.
  [[nodiscard]] bool traces_functions() const;
};

/// "call-graph,irq-info"; fails with kUsage for others.
Result<> parse_function_options(std::string_view words, TraceSettings& settings);
/// "nosleep-time,noirqs,verbose,tail,args,retval,retval-hex,retaddr,thresh=N,depth=N".
Result<> parse_graph_options(std::string_view words, TraceSettings& settings);

/// A file below tracefs, and the words written to it one by one. No words: it is emptied.
struct TraceWrite {
  std::string file;
  std::vector<std::string> words;
  bool is_asked_for = true;  // otherwise it may be missing: the kernel's default is meant
  std::string option = {};   // on the command line, for messages
  bool operator==(const TraceWrite&) const = default;
};

/// In write order: tracing is off and stays off, and the tracer comes last.
[[nodiscard]] std::vector<TraceWrite> trace_writes(const TraceSettings& settings);

/// {0, 1, 33} in the format of tracing_cpumask: "2,00000003".
[[nodiscard]] std::string cpu_mask_text(const std::vector<int>& cpus);

/// The words that restore a file's current content: its lines, without comments and commands.
[[nodiscard]] std::vector<std::string> words_of_trace_file(std::string_view file,
                                                           std::string_view text);

}  // namespace sonde
