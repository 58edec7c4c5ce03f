// LoopGuard: ends the walk through code that needs no trace to go on, and so never ends by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sonde::pt {

/// For the walk through one trace. Code may run long before it consumes trace, but a trace leads
/// into loops only where it does not fit the code: all loops together get a patience that is linear
/// in the trace's bytes, so that damaged and made-up traces cost no more than others.
class LoopGuard {
 public:
  explicit LoopGuard(uint64_t trace_bytes) : patience_(trace_bytes * kPerByte) {}

  /// So many instructions were passed. `position` returns a number that changes when trace is
  /// consumed. True: too many since it last changed, the walk is to end here.
  bool passed(uint64_t instructions, auto&& position) {
    unchecked_ += instructions;
    if (unchecked_ < kCheckedEvery) return false;
    since_trace_ += std::exchange(unchecked_, 0);
    uint64_t at = position();
    if (std::exchange(last_position_, at) != at) since_trace_ = 0;
    if (since_trace_ < std::clamp(patience_, kLeast, kMost)) return false;
    patience_ -= std::min(patience_, since_trace_);
    begin();
    return true;
  }
  /// The walk begins at another place of the trace.
  void begin() {
    since_trace_ = unchecked_ = 0;
    last_position_ = UINT64_MAX;
  }

 private:
  /// Instructions between two that consume trace: more than any program has, and more than nearly
  /// all have.
  static constexpr uint64_t kMost = 1u << 20, kLeast = 1u << 11;
  /// About as many as a byte of a trace stands for where branches are rare.
  static constexpr uint64_t kPerByte = 64;
  static constexpr uint64_t kCheckedEvery = 1u << 10;

  uint64_t patience_;  // instructions, of all loops
  uint64_t last_position_ = UINT64_MAX;
  uint64_t since_trace_ = 0, unchecked_ = 0;  // instructions
};

}  // namespace sonde::pt
