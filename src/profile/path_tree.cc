#include "profile/path_tree.h"

namespace sonde {
namespace {

class PathTreeBuilder {
 public:
  PathTreeBuilder(const PathUses& uses, std::span<const uint32_t> key_of_step,
                  const ProfileOptions& options, const SampleColumns& samples)
      : uses_(uses), key_of_step_(key_of_step), options_(options), samples_(samples) {}
  PathTree build() &&;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Sums at and below a node of the path that was appended last. The sums of the nodes on that
  /// path are kept here until the path leaves them: a pass over all nodes would read them from
  /// memory again.
  struct Below {
    uint64_t period = 0;
    uint64_t first_time = 0;
    uint32_t count = 0;
    uint32_t first = kNone;  // sample
    uint32_t height = 0;     // steps
  };
  void reserve_nodes(size_t most);
  void resize_nodes(size_t size);
  void end_at(uint32_t node, const OrderedPath& path, const PathUse& use);
  void add_below(size_t depth, const Below& more);
  void close_node(uint32_t node, size_t depth);

  const PathUses& uses_;
  std::span<const uint32_t> key_of_step_;
  const ProfileOptions& options_;
  const SampleColumns& samples_;
  PathTree tree_;
  uint32_t last_own_ = kNone;
  std::vector<Below> sums_;  // by depth
};

PathTree PathTreeBuilder::build() && {
  PathOrderOptions options{.by_own = !options_.children,
                           .from_root = options_.caller_order,
                           .min_weight = least_path_weight(options_, uses_.totals.period)};
  LargeVector<OrderedPath> paths = order_paths(uses_.uses, key_of_step_, options);
  size_t steps = 0;
  for (const OrderedPath& path : paths) steps += path.kept + 1;
  reserve_nodes(steps);
  tree_.ends.reserve(paths.size());
  auto close = [this](uint32_t node, size_t depth) { close_node(node, depth); };
  std::vector<uint32_t> keys;
  uint64_t head = 0;
  uint32_t node = kNone;
  for (size_t at = 0; at < paths.size(); ++at) {
    prefetch_uses(uses_.uses, paths, at);
    const OrderedPath& path = paths[at];
    const PathUse& use = uses_.uses[path.use];
    if (path.is_alike == 0) node = kNone;
    if (uses_.samples[path.use].count == 0) continue;
    if (node != kNone) {
      end_at(node, path, use);
      continue;
    }
    if (tree_.roots.empty() || head_of(use, options) != head)
      tree_.roots.push_back(tree_.trie.add_root(use.group, close));
    head = head_of(use, options);
    keys.clear();
    for (uint32_t i = 0; i < path.kept; ++i)
      keys.push_back(key_at(use, i, key_of_step_, options.from_root));
    node = tree_.trie.append(keys, close);
    end_at(node, path, use);
  }
  tree_.trie.finish(close);
  resize_nodes(tree_.trie.size());
  return std::move(tree_);
}

/// Reserves only address space: the data of a node is written when the node is closed.
void PathTreeBuilder::reserve_nodes(size_t most) {
  tree_.trie.reserve(most);
  resize_nodes(most);
}

void PathTreeBuilder::resize_nodes(size_t size) {
  tree_.period.resize(size);
  tree_.count.resize(size);
  tree_.first.resize(size);
  tree_.height.resize(size);
}

void PathTreeBuilder::end_at(uint32_t node, const OrderedPath& path, const PathUse& use) {
  const UseSamples& samples = uses_.samples[path.use];
  bool known = !tree_.ends.empty() && tree_.ends.back().node == node && last_own_ == use.own;
  if (!known) {
    last_own_ = use.own;
    tree_.own.push_back(use.own);
    tree_.ends.push_back({.node = node,
                          .depth = path.kept,
                          .row = kNone,
                          .count = 0,
                          .first_sample = samples.first,
                          .period = 0});
    if (options_.by_mode) tree_.modes.emplace_back();
  }
  PathEnd& end = tree_.ends.back();
  end.count += samples.count;
  end.period += use.period;
  if (is_earlier(samples_, samples.first, end.first_sample)) end.first_sample = samples.first;
  if (options_.by_mode) tree_.modes.back() += uses_.modes[path.use];
  add_below(path.kept, {.period = use.period,
                        .first_time = samples.first_time,
                        .count = samples.count,
                        .first = samples.first});
}

void PathTreeBuilder::add_below(size_t depth, const Below& more) {
  if (sums_.size() <= depth) sums_.resize(depth + 1);
  Below& sum = sums_[depth];
  sum.period += more.period;
  sum.count += more.count;
  sum.height = std::max(sum.height, more.height);
  if (sum.first != kNone &&
      std::pair(sum.first_time, sum.first) < std::pair(more.first_time, more.first))
    return;
  sum.first = more.first;
  sum.first_time = more.first_time;
}

void PathTreeBuilder::close_node(uint32_t node, size_t depth) {
  Below sum = sums_[depth];
  sums_[depth] = Below();
  tree_.period[node] = sum.period;
  tree_.count[node] = sum.count;
  tree_.first[node] = sum.first;
  tree_.height[node] = sum.height;
  ++sum.height;
  if (depth > 0) add_below(depth - 1, sum);
}

}  // namespace

PathTree build_path_tree(const PathUses& uses, std::span<const uint32_t> key_of_step,
                         const ProfileOptions& options, const SampleColumns& samples) {
  return PathTreeBuilder(uses, key_of_step, options, samples).build();
}

}  // namespace sonde
