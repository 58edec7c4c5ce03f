#include "stacks/stack_tree_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

TEST(StackTreeBuilder, NumbersDepthFirstAndByName) {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  auto frame = [&](std::string_view name) { return builder.frame({.name = builder.intern(name)}); };
  builder.add_stack(std::vector{frame("b"), frame("z")}, column, 1);
  builder.add_stack(std::vector{frame("b"), frame("a")}, column, 2);
  builder.add_stack(std::vector{frame("a")}, column, 3);
  builder.add_stack({}, column, 4);
  StackProfile profile = std::move(builder).finish();
  EXPECT_THAT(lines_of(profile), ElementsAre("a 3", "b;a 2", "b;z 1"));
  EXPECT_EQ(profile.nodes[1].end, 4u);
  EXPECT_EQ(profile.columns[0].without_stack, 4);
  EXPECT_EQ(totals_of(profile, 0), (std::vector<double>{3, 3, 2, 1}));
}

TEST(StackTreeBuilder, DeepAndWideTreesOfFewFrames) {
  // Keys that differ only in the parent: 100,000 per frame.
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  StackFrameId frames[] = {builder.frame({.name = builder.intern("f")}),
                           builder.frame({.name = builder.intern("g")})};
  StackNodeId node;
  constexpr size_t kDeep = 100'000;
  for (size_t i = 0; i < kDeep; ++i) {
    node = builder.child(node, frames[0]);
    builder.add(builder.child(node, frames[1]), column, 1);
  }
  StackProfile profile = std::move(builder).finish();
  EXPECT_EQ(profile.nodes.size(), 2 * kDeep);
  EXPECT_EQ(totals_of(profile, 0)[0], kDeep);
}

}  // namespace
}  // namespace sonde
