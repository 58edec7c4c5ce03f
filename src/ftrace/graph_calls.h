// GraphCalls: out of the text of the function_graph tracer, as it comes in pieces of any length,
// the calls that ended: which function, and how long it took.
//
//   GraphCalls calls([&](std::string_view name, uint64_t duration_ns) { … });
//   calls.take(bytes);  …  calls.finish();
//
// A return that does not say its name belongs to the latest function that began on its CPU and has
// not ended; each task has its own such functions. What was lost makes all of its CPU's uncertain,
// so they are forgotten and their returns have no name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "ftrace/graph_line.h"

namespace sonde {

class GraphCalls {
 public:
  /// `name` is empty where nothing tells it.
  using OnCall = std::function<void(std::string_view name, uint64_t duration_ns)>;
  explicit GraphCalls(OnCall on_call) : on_call_(std::move(on_call)) {}

  void take(std::string_view text);
  /// The last line, should it lack an end.
  void finish();

  /// Functions that began or ended and did not fit the kernel's buffers.
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  using Open = std::vector<std::string>;  // functions that began, the innermost last
  struct Cpu {
    Open open;
  };

  void take_line(std::string_view text);
  void begin(Cpu& cpu, std::string_view name);
  void end(Cpu& cpu, const GraphLine& line);
  void change_task(Cpu& cpu, const GraphLine& line);

  OnCall on_call_;
  std::string rest_;  // a line whose end has not come
  tsl::robin_map<uint32_t, Cpu> cpus_;
  tsl::robin_map<std::string, Open> waiting_;  // of tasks that no CPU runs
  uint64_t lost_ = 0;
};

}  // namespace sonde
