#include "profile/path_tree.h"

#include <algorithm>

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
  /// Sums at and below a run of the path that was appended last. They are kept here until the path
  /// leaves it: a pass over all runs would read them from memory again.
  struct Below {
    PathSums sums{.period = 0, .count = 0, .first = kNone, .height = 0};
    uint64_t first_time = 0;
  };
  void end_at(uint32_t node, const OrderedPath& path, const PathUse& use);
  void add_below(size_t level, const Below& more);
  void close_run(const CallTrie::ClosedRun& run);
  void take_members();

  const PathUses& uses_;
  std::span<const uint32_t> key_of_step_;
  const ProfileOptions& options_;
  const SampleColumns& samples_;
  PathTree tree_;
  uint32_t last_own_ = kNone;
  std::vector<Below> below_;           // by level of the run
  std::vector<uint32_t> end_of_use_;   // if branches are counted
  LargeVector<PathSums> closed_sums_;  // in the order of closing
};

PathTree PathTreeBuilder::build() && {
  PathOrderOptions options{.by_own = !options_.children,
                           .from_root = options_.caller_order,
                           .min_weight = least_path_weight(options_, uses_.totals.period)};
  LargeVector<OrderedPath> paths = order_paths(uses_.uses, key_of_step_, options);
  size_t steps = 0;
  for (const OrderedPath& path : paths) steps += path.kept + 1;
  tree_.trie.reserve(steps);
  tree_.ends.reserve(paths.size());
  closed_sums_.reserve(2 * paths.size());  // a path adds a run, and may split one
  if (options_.keeps_members()) end_of_use_.assign(uses_.uses.size(), kNone);
  auto close = [this](const CallTrie::ClosedRun& run) { close_run(run); };
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
  paths = {};  // finish() needs as much memory
  LargeVector<uint32_t> numbers = tree_.trie.finish(close);
  tree_.sums.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) tree_.sums[numbers[i]] = closed_sums_[i];
  take_members();
  return std::move(tree_);
}

void PathTreeBuilder::take_members() {
  for (const UseSample& member : uses_.members)
    tree_.members.push_back({end_of_use_[member.use], member.sample});
  std::ranges::stable_sort(tree_.members, {}, &EndSample::end);
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
    if (options_.by_source) tree_.sources.emplace_back();
  }
  if (!end_of_use_.empty()) end_of_use_[path.use] = static_cast<uint32_t>(tree_.ends.size() - 1);
  PathEnd& end = tree_.ends.back();
  end.count += samples.count;
  end.period += use.period;
  if (is_earlier(samples_, samples.first, end.first_sample)) end.first_sample = samples.first;
  if (options_.by_mode) tree_.modes.back() += uses_.modes[path.use];
  if (options_.by_source) tree_.sources.back() += uses_.sources[path.use];
  add_below(
      tree_.trie.levels() - 1,
      {.sums = {.period = use.period, .count = samples.count, .first = samples.first, .height = 0},
       .first_time = samples.first_time});
}

void PathTreeBuilder::add_below(size_t level, const Below& more) {
  if (below_.size() <= level) below_.resize(level + 1);
  Below& below = below_[level];
  PathSums& sums = below.sums;
  sums.period += more.sums.period;
  sums.count += more.sums.count;
  sums.height = std::max(sums.height, more.sums.height);
  if (sums.first != kNone &&
      std::pair(below.first_time, sums.first) < std::pair(more.first_time, more.sums.first))
    return;
  sums.first = more.sums.first;
  below.first_time = more.first_time;
}

void PathTreeBuilder::close_run(const CallTrie::ClosedRun& run) {
  Below below = below_[run.level];
  below_[run.level] = Below();
  closed_sums_.push_back(below.sums);
  below.sums.height += run.nodes;
  if (run.is_rest)
    add_below(run.level, below);
  else if (run.level > 0)
    add_below(run.level - 1, below);
}

}  // namespace

PathTree build_path_tree(const PathUses& uses, std::span<const uint32_t> key_of_step,
                         const ProfileOptions& options, const SampleColumns& samples) {
  return PathTreeBuilder(uses, key_of_step, options, samples).build();
}

}  // namespace sonde
