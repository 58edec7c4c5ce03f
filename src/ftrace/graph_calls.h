// GraphCalls: extracts the completed calls, function and duration, from the text of the
// function_graph tracer, which arrives in pieces of any length.
//
//   GraphCalls calls([&](std::string_view name, uint64_t duration_ns) { … });
//   calls.consume(bytes);  …  calls.finish();
//
// A return without a name belongs to the innermost function that is open on its CPU; each task has
// its own open functions. Lost events make all open functions of their CPU uncertain, so these are
// forgotten and their returns have no name.
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
  /// `name` is empty if unknown.
  using OnCall = std::function<void(std::string_view name, uint64_t duration_ns)>;
  explicit GraphCalls(OnCall on_call) : on_call_(std::move(on_call)) {}

  void consume(std::string_view text);
  /// Handles the last line if it is unterminated.
  void finish();

  /// Function entries and exits that did not fit the kernel's buffers.
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  using Open = std::vector<std::string>;  // functions that began, innermost last
  struct Cpu {
    Open open;
  };

  void take_line(std::string_view text);
  void begin(Cpu& cpu, std::string_view name);
  void end(Cpu& cpu, const GraphLine& line);
  void change_task(Cpu& cpu, const GraphLine& line);

  OnCall on_call_;
  std::string rest_;  // an incomplete line
  tsl::robin_map<uint32_t, Cpu> cpus_;
  tsl::robin_map<std::string, Open> waiting_;  // of tasks not running on any CPU
  uint64_t lost_ = 0;
};

}  // namespace sonde
