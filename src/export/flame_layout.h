// Where the frames of a flame graph stand, in the unit of the profile and by depth: nothing of
// pixels, names or colours.
//
//   main  a  3                  ┌────┬──────┐
//   main  b  5      depth 2     │ a  │ b    │
//                   depth 1     │ main      │      main: start 0, total 8
//                   depth 0     │ all       │      b:    start 3, total 5
//
// In a flame graph what fell on a frame itself lies at its left end; then come its children, in
// alphabetical order. In a flame chart all lies in the order of time, and only what follows one
// another is one frame.
#pragma once

#include <cstdint>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

struct FlameSpan {
  StackNodeId node = {};  // invalid: the root, under all stacks
  uint32_t depth = 0;     // of the root: 0
  double start = 0;
  double total = 0;
  bool is_waker = false;  // beyond a frame "--", which divides a thread's stack from its wakers'
};

/// Depth first: a frame before those on it, and from left to right. Frames whose total is below
/// `least` are left out, and those of nothing. `totals`: by node, those below included; `whole`: of
/// the root.
[[nodiscard]] std::vector<FlameSpan> lay_out_flame_graph(const StackProfile& profile,
                                                         const std::vector<double>& totals,
                                                         double whole, double least);
/// The same of a flame chart. Needs StackProfile::samples.
[[nodiscard]] std::vector<FlameSpan> lay_out_flame_chart(const StackProfile& profile, size_t column,
                                                         double whole, double least);

}  // namespace sonde
