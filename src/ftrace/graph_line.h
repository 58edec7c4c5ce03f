// One line of the kernel's function_graph tracer, as trace_pipe prints it
// (kernel/trace/trace_functions_graph.c, Documentation/trace/ftrace.rst):
//
//    0)               |  vfs_read() {                          a function begins
//    0)   1.834 us    |    __rcu_read_lock();                  one that called nothing that is
//    traced 0) + 80.908 us   |  } /* vfs_read */                      it ends; the name with
//    funcgraph-tail 0)  perf-ex-147   =>    <idle>-0                          a CPU changes to
//    another task
//   CPU:0 [LOST 1234 EVENTS]                                   more than the buffer had room for
//
// Columns of time, task and flags may stand in front of the duration and are passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

struct GraphLine {
  enum class Kind : uint8_t {
    kOther,  // headings, events, marks of interrupts, what is no line of this tracer
    kEntry,
    kCall,  // entry and return at once
    kReturn,
    kSwitch,
    kLost,
  };
  Kind kind = Kind::kOther;
  uint32_t cpu = 0;
  std::optional<uint64_t> duration_ns;  // absent below the tracer's threshold
  std::string_view name;                // of a return only where it says so
  uint64_t lost = 0;
  std::string_view from, to;  // tasks of a switch: "perf-ex-147"
};

/// `line` without its end. Names point into it.
[[nodiscard]] GraphLine parse_graph_line(std::string_view line);

}  // namespace sonde
