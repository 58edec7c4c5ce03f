#include "stacks/recursion.h"

#include <gtest/gtest.h>

#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

TEST(Recursion, IsOneFrame) {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  StackFrameId main = builder.frame({.name = builder.intern("main")});
  StackFrameId visit = builder.frame({.name = builder.intern("visit")});
  StackFrameId read = builder.frame({.name = builder.intern("read")});
  uint64_t time_ns = 0;
  auto add = [&](std::vector<StackFrameId> stack, double value) {
    builder.add_sample(builder.node_of(stack), column, value, {.time_ns = ++time_ns});
  };
  add({main, visit, visit, visit, read}, 3);
  add({main, visit, read}, 4);
  add({main, visit, visit}, 5);
  add({main, visit, read, visit}, 6);  // indirect, through another function: kept
  StackProfile merged = merge_recursion(std::move(builder).finish());

  ASSERT_EQ(merged.nodes.size(), 4u);  // main, visit, read, visit
  EXPECT_EQ(merged.columns[0].self, (std::vector<double>{0, 5, 7, 6}));
  EXPECT_EQ(merged.columns[0].samples, 4u);
  ASSERT_EQ(merged.samples.size(), 4u);
  EXPECT_EQ(merged.samples.node[0], StackNodeId(2));
  EXPECT_EQ(merged.samples.node[2], StackNodeId(1));
  EXPECT_EQ(merged.samples.node[3], StackNodeId(3));
}

}  // namespace
}  // namespace sonde
