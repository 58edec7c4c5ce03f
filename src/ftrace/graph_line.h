// One line of the kernel's function_graph tracer, as trace_pipe prints it
// (kernel/trace/trace_functions_graph.c, Documentation/trace/ftrace.rst):
//
//    0)               |  vfs_read() {               a function begins
//    0)   1.834 us    |    __rcu_read_lock();       one that called nothing that is traced
//    0) + 80.908 us   |  } /* vfs_read */           it ends; the name with funcgraph-tail
//    0)  perf-ex-147   =>    <idle>-0               a CPU switches to another task
//   CPU:0 [LOST 1234 EVENTS]                        the buffer overflowed
//
// Columns for time, task and flags may precede the duration and are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

struct GraphLine {
  enum class Kind : uint8_t {
    kOther,  // headings, events, interrupt marks, lines of other tracers
    kEntry,
    kCall,  // entry and immediate return
    kReturn,
    kSwitch,
    kLost,
  };
  Kind kind = Kind::kOther;
  uint32_t cpu = 0;
  std::optional<uint64_t> duration_ns;  // absent below the tracer's threshold
  std::string_view name;                // for a return, only if it has one
  uint64_t lost = 0;
  std::string_view from, to;  // tasks of a switch: "perf-ex-147"
};

/// `line` without its terminator. Names point into it.
[[nodiscard]] GraphLine parse_graph_line(std::string_view line);

}  // namespace sonde
