#include "stacks/reversed_stacks.h"

#include <algorithm>

#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

/// By node: whether exactly this stack has any weight.
std::vector<bool> ends_of_stacks(const StackProfile& profile) {
  std::vector<bool> is_end(profile.nodes.size());
  for (const StackColumn& column : profile.columns)
    for (size_t i = 0; i < is_end.size(); ++i)
      if (column.self[i] != 0) is_end[i] = true;
  for (StackNodeId node : profile.samples.node)
    if (node.valid()) is_end[node.index()] = true;
  return is_end;
}

/// Total number of frames of all stacks that end at some node.
uint64_t frames_of_stacks(const StackProfile& profile, const std::vector<bool>& is_end) {
  std::vector<uint32_t> depth(profile.nodes.size());
  uint64_t frames = 0;
  for (size_t i = 0; i < depth.size(); ++i) {
    StackNodeId parent = profile.nodes[i].parent;
    depth[i] = parent.valid() ? depth[parent.index()] + 1 : 1;
    if (is_end[i]) frames += depth[i];
  }
  return frames;
}

}  // namespace

Result<StackProfile> reversed_stacks(StackProfile profile) {
  std::vector<bool> is_end = ends_of_stacks(profile);
  constexpr uint64_t kMaxFrames = uint64_t{1} << 28;
  if (uint64_t frames = frames_of_stacks(profile, is_end); frames > kMaxFrames)
    return fail(ErrorCode::kUnsupported,
                "{}: its stacks have {} frames, too many to reverse (at most {})", profile.origin,
                frames, kMaxFrames);
  LargeVector<StackNode> nodes = std::move(profile.nodes);
  StackSamples samples = std::move(profile.samples);
  std::vector<StackColumn> columns = profile.columns;
  for (StackColumn& column : profile.columns) column.self.clear();
  profile.nodes = {};
  profile.samples = {};

  StackTreeBuilder builder(std::move(profile));
  std::vector<StackNodeId> made(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_end[i]) continue;
    StackNodeId at;
    for (StackNodeId node(i); node.valid(); node = nodes[node.index()].parent)
      at = builder.child(at, nodes[node.index()].frame);
    made[i] = at;
    for (size_t column = 0; column < columns.size(); ++column)
      builder.add(at, column, columns[column].self[i]);
  }
  std::vector<StackNodeId> new_numbers;
  StackProfile out = std::move(builder).finish(&new_numbers);
  for (size_t i = 0; i < columns.size(); ++i) out.columns[i].samples = columns[i].samples;
  for (StackNodeId& node : samples.node)
    if (node.valid()) node = new_numbers[made[node.index()].index()];
  out.samples = std::move(samples);
  return out;
}

}  // namespace sonde
