#include "stacks/reversed_stacks.h"

#include <gtest/gtest.h>

#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

StackNodeId add(StackTreeBuilder& builder, std::initializer_list<const char*> names, double value) {
  std::vector<StackFrameId> stack;
  for (const char* name : names) stack.push_back(builder.frame({.name = builder.intern(name)}));
  StackNodeId node = builder.node_of(stack);
  builder.add_sample(node, 0, value, {.time_ns = static_cast<uint64_t>(value)});
  return node;
}

std::string reversed_path(const StackProfile& profile, StackNodeId node) {
  std::string path;
  for (; node.valid(); node = profile.nodes[node.index()].parent)
    path = std::string(profile.name_of(node)) + (path.empty() ? "" : ";") + path;
  return path;
}

TEST(ReversedStacks, WhatWouldBecomeTooLargeIsAnError) {
  StackTreeBuilder builder;
  builder.add_column("samples", "samples");
  StackFrameId frame = builder.frame({.name = builder.intern("visit")});
  StackNodeId at;
  constexpr int kDeep = 25'000;  // half its square exceeds the limit
  for (int i = 0; i < kDeep; ++i) {
    at = builder.child(at, frame);
    builder.add(at, 0, 1);
  }
  auto reversed = reversed_stacks(std::move(builder).finish());
  ASSERT_FALSE(reversed);
  EXPECT_EQ(reversed.error().code, ErrorCode::kUnsupported);
}

TEST(ReversedStacks, InnermostFramesBecomeRoots) {
  StackTreeBuilder builder;
  builder.add_column("samples", "samples");
  add(builder, {"main", "parse", "next"}, 3);
  add(builder, {"main", "emit", "next"}, 2);
  add(builder, {"main"}, 7);
  StackProfile reversed = reversed_stacks(std::move(builder).finish()).value();

  std::vector<std::string> paths;
  for (size_t i = 0; i < reversed.nodes.size(); ++i)
    paths.push_back(reversed_path(reversed, StackNodeId(i)));
  EXPECT_EQ(paths, (std::vector<std::string>{"main", "next", "next;emit", "next;emit;main",
                                             "next;parse", "next;parse;main"}));
  EXPECT_EQ(totals_of(reversed, 0), (std::vector<double>{7, 5, 2, 2, 3, 3}));
  EXPECT_EQ(total_of(reversed.columns[0]), 12);
  ASSERT_EQ(reversed.samples.size(), 3u);
  EXPECT_EQ(reversed_path(reversed, reversed.samples.node[0]), "next;emit;main");
  EXPECT_EQ(reversed_path(reversed, reversed.samples.node[2]), "main");
}

TEST(ReversedStacks, OfNothing) {
  StackTreeBuilder builder;
  builder.add_column("samples", "samples");
  builder.add(StackNodeId(), 0, 4);
  StackProfile reversed = reversed_stacks(std::move(builder).finish()).value();
  EXPECT_TRUE(reversed.nodes.empty());
  EXPECT_EQ(total_of(reversed.columns[0]), 4) << "what has no stack is kept";
}

}  // namespace
}  // namespace sonde
