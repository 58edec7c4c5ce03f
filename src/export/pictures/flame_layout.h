// The layout of a flame graph's frames, in the profile's unit and by depth: no pixels, names or
// colours.
//
//   main  a  3                  ┌────┬──────┐
//   main  b  5      depth 2     │ a  │ b    │
//                   depth 1     │ main      │      main: start 0, total 8
//                   depth 0     │ all       │      b:    start 3, total 5
//
// In a flame graph, a frame's self weight is at its left end, followed by its children in
// alphabetical order. In a flame chart everything is in time order, and only consecutive samples
// share a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

struct FlameSpan {
  StackNodeId node = {};  // invalid: the root, below all stacks
  uint32_t depth = 0;     // 0 for the root
  double start = 0;
  double total = 0;
  bool is_waker = false;  // beyond a "--" frame, which separates a thread's stack from its wakers'
};

/// Depth first: a frame before those on top of it, left to right. Frames whose total is below
/// `least`, or zero, are left out. `totals`: by node, including descendants; `whole`: of the root.
[[nodiscard]] std::vector<FlameSpan> lay_out_flame_graph(const StackProfile& profile,
                                                         const std::vector<double>& totals,
                                                         double whole, double least);
/// The same for a flame chart. Needs StackProfile::samples.
[[nodiscard]] std::vector<FlameSpan> lay_out_flame_chart(const StackProfile& profile, size_t column,
                                                         double whole, double least);

}  // namespace sonde
