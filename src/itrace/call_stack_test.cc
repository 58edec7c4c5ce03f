#include "itrace/call_stack.h"

#include <gtest/gtest.h>

#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {
namespace {

constexpr uint32_t kCall = kTraceBranch | kTraceCall, kReturn = kTraceBranch | kTraceReturn,
                   kBegin = kTraceBranch | kTraceBegin;

TakenBranch call(uint64_t from, uint64_t to) {
  return {from, to, kCall, 5};
}

TEST(CallStack, EntersAndLeaves) {
  CallStack stack;
  stack.take(call(0x100, 0x200), 1, 10);
  EXPECT_TRUE(stack.entered());
  ASSERT_EQ(stack.depth(), 1u);
  EXPECT_EQ(stack.calls()[0].return_address, 0x105u);
  EXPECT_EQ(stack.calls()[0].callee, 0x200u);
  EXPECT_EQ(stack.calls()[0].entered_ns, 10u);
  stack.take({0x210, 0x220, kTraceBranch | kTraceConditional, 2}, 1, 11);
  EXPECT_FALSE(stack.entered());
  EXPECT_TRUE(stack.left().empty());
  stack.take({0x230, 0x105, kReturn, 1}, 1, 12);
  ASSERT_EQ(stack.left().size(), 1u);
  EXPECT_EQ(stack.left()[0].callee, 0x200u);
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(CallStack, LeavesSeveralCallsAtOnce) {
  CallStack stack;
  stack.take(call(0x100, 0x200), 1, 0);
  stack.take(call(0x200, 0x300), 1, 0);
  stack.take(call(0x300, 0x400), 1, 0);
  stack.take({0x400, 0x105, kReturn, 1}, 1, 0);
  ASSERT_EQ(stack.left().size(), 3u);
  EXPECT_EQ(stack.left()[0].callee, 0x400u);
  EXPECT_EQ(stack.left()[2].callee, 0x200u);
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(CallStack, IgnoresReturnsOfUnseenCallsAndCallsOfTheNextInstruction) {
  CallStack stack;
  stack.take(call(0x100, 0x200), 1, 0);
  stack.take({0x200, 0x999, kReturn, 1}, 1, 0);
  EXPECT_EQ(stack.depth(), 1u);
  stack.take(call(0x200, 0x205), 1, 0);
  EXPECT_EQ(stack.depth(), 1u);
  EXPECT_FALSE(stack.entered());
  stack.take({0x200, 0, kCall | kTraceEnd, 5}, 1, 0);
  EXPECT_EQ(stack.depth(), 1u);
}

TEST(CallStack, TakesANewBeginningForAReturn) {
  CallStack stack;
  stack.take(call(0x100, 0x200), 1, 0);
  // An interrupt ends the trace; it goes on where it was interrupted.
  stack.take({0x210, 0x800, kCall | kTraceAsync | kTraceEnd, 0}, 1, 0);
  EXPECT_EQ(stack.depth(), 2u);
  stack.take({0, 0x210, kBegin, 0}, 1, 0);
  EXPECT_EQ(stack.depth(), 1u);
  // Elsewhere: the call at the end is not expected to return either.
  stack.take({0x210, 0x800, kCall | kTraceEnd, 5}, 1, 0);
  EXPECT_EQ(stack.depth(), 2u);
  stack.take({0, 0x777, kBegin, 0}, 1, 0);
  EXPECT_EQ(stack.depth(), 1u);
}

TEST(CallStack, AnotherTraceLeavesAll) {
  CallStack stack;
  stack.take(call(0x100, 0x200), 1, 0);
  stack.take(call(0x500, 0x600), 2, 0);
  EXPECT_EQ(stack.left().size(), 1u);
  ASSERT_EQ(stack.depth(), 1u);
  EXPECT_EQ(stack.calls()[0].callee, 0x600u);
}

TEST(CallStack, IsBounded) {
  CallStack stack;
  for (size_t i = 0; i < CallStack::kMostCalls + 10; ++i)
    stack.take(call(0x100 + i * 16, 0x100), 1, 0);
  EXPECT_LE(stack.depth(), CallStack::kMostCalls);
}

}  // namespace
}  // namespace sonde::itrace
