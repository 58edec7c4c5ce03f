#include "unwind/call_stack_branches.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Calls = std::vector<uint64_t>;

/// A sample whose call stack is these calls, innermost first; the newest is in register `newest`.
struct CallStack {
  CallStack(uint64_t newest, const Calls& calls) {
    for (uint64_t call : calls) words.insert(words.end(), {call, call + 1, 0});
    sample.branches = WordView(std::as_bytes(std::span(words)), kHostOrder);
    sample.branch_hw_index = newest;
    sample.has_branches = true;
  }
  std::vector<uint64_t> words;
  Sample sample;
};

/// The calls around the last of a thread's samples, on a processor with four registers.
Calls around_last(std::initializer_list<CallStack> stacks) {
  BranchStitcher stitcher(4);
  Calls last;
  for (const CallStack& stack : stacks) {
    auto around = stitcher.calls_around(1, stack.sample);
    last.assign(around.begin(), around.end());
  }
  return last;
}

TEST(CallStackBranches, BeginWithTheSampledFunction) {
  CallStack stack(3, {70, 60, 50});
  Calls seen;
  for_each_call(stack.sample, [&](uint64_t address) { seen.push_back(address); });
  EXPECT_EQ(seen, (Calls{71, 70, 60, 50}));
}

TEST(CallStackBranches, AreStitchedToThoseOfTheSampleBefore) {
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}}), Calls{});
  // Two more calls: they took the registers of 10 and 20.
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}, {1, {60, 50, 40, 30}}}), (Calls{20, 10}));
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}, {1, {60, 50, 40, 30}}, {2, {70, 60, 50, 40}}}),
            (Calls{30, 20, 10}));
  // A different call is in the register.
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}, {1, {60, 50, 40, 31}}}), Calls{});
  // Four more calls: nothing is left of the others.
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}, {3, {80, 70, 60, 50}}}), Calls{});
  // Stitched calls are kept only as long as every sample fits.
  EXPECT_EQ(around_last({{3, {40, 30, 20, 10}}, {0, {99}}, {1, {60, 50, 40, 30}}}), Calls{});
}

TEST(CallStackBranches, NonsenseIsNotStitched) {
  EXPECT_EQ(around_last({{3, {4, 3, 2, 1}}, {UINT64_MAX, {6, 5, 4, 3}}}), Calls{});
  EXPECT_EQ(around_last({{3, {4, 3, 2, 1}}, {1, {6, 5, 4, 3, 2, 1, 0}}}), Calls{});
  EXPECT_EQ(around_last({{3, {}}, {1, {6, 5, 4, 3}}}), Calls{});
  EXPECT_EQ(around_last({{3, {4, 3, 2, 1}}, {1, {}}}), Calls{});
}

TEST(CallStackBranches, ThreadsHaveTheirOwn) {
  BranchStitcher stitcher(4);
  CallStack first(3, {40, 30, 20, 10}), second(1, {60, 50, 40, 30});
  (void)stitcher.calls_around(1, first.sample);
  EXPECT_TRUE(stitcher.calls_around(2, second.sample).empty());
  EXPECT_EQ(stitcher.calls_around(1, second.sample).size(), 2U);
}

}  // namespace
}  // namespace sonde
