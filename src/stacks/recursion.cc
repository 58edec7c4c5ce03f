#include "stacks/recursion.h"

#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

/// What StackTreeBuilder continues from: everything in a profile but nodes, samples and sums.
StackProfile without_nodes(StackProfile& profile) {
  StackProfile begun;
  begun.strings = std::move(profile.strings);
  begun.frames = std::move(profile.frames);
  begun.threads = std::move(profile.threads);
  begun.origin = std::move(profile.origin);
  begun.objects = std::move(profile.objects);
  for (const StackColumn& column : profile.columns) {
    StackColumn& made = begun.columns.emplace_back();
    made.name = column.name;
    made.unit = column.unit;
  }
  return begun;
}

}  // namespace

StackProfile merge_recursion(StackProfile profile) {
  StackTreeBuilder builder(without_nodes(profile));
  std::vector<StackNodeId> made(profile.nodes.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const StackNode& node = profile.nodes[i];
    bool calls_itself =
        node.parent.valid() && profile.nodes[node.parent.index()].frame == node.frame;
    StackNodeId parent = node.parent.valid() ? made[node.parent.index()] : StackNodeId();
    made[i] = calls_itself ? parent : builder.child(parent, node.frame);
    for (size_t column = 0; column < profile.columns.size(); ++column)
      builder.add(made[i], column, profile.columns[column].self[i]);
  }
  std::vector<StackNodeId> new_numbers;
  StackProfile merged = std::move(builder).finish(&new_numbers);
  merged.samples = std::move(profile.samples);
  for (StackNodeId& node : merged.samples.node)
    if (node.valid()) node = new_numbers[made[node.index()].index()];
  for (size_t i = 0; i < merged.columns.size(); ++i) {
    merged.columns[i].without_stack = profile.columns[i].without_stack;
    merged.columns[i].samples = profile.columns[i].samples;
  }
  return merged;
}

}  // namespace sonde
