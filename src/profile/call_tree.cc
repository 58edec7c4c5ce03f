#include "profile/call_tree.h"

#include <algorithm>
#include <cmath>

namespace sonde {

// A report without children that shows callees first is the one case where the trie (built from the
// root, where paths share most) is walked upwards.
CallTreeBuilder::CallTreeBuilder(const Profile& profile)
    : profile_(profile),
      upwards_(!profile.options().children && !profile.options().caller_order),
      own_period_(profile.trie().size(), 0),
      own_count_(profile.trie().size(), 0) {}

CallTree CallTreeBuilder::build(size_t row, const CallTreeOptions& options) {
  options_ = options;
  tree_ = CallTree();
  if (!upwards_) weigh_own_paths(row);
  std::vector<Part> parts = first_steps(row);
  uint64_t total = 0;
  for (const Part& part : parts) total += part.weight;
  tree_.total_ = total;
  tree_.top_ = make_nodes(std::move(parts), total);
  forget_own_paths();
  return std::move(tree_);
}

void CallTreeBuilder::weigh_own_paths(size_t row) {
  const CallTrie& trie = profile_.trie();
  for (uint32_t end_id : profile_.own_ends(row)) {
    const PathEnd& end = profile_.ends()[end_id];
    for (uint32_t node = end.node;; node = trie.parent(node)) {
      if (own_count_[node] == 0) touched_.push_back(node);
      own_period_[node] += end.period;
      own_count_[node] += end.count;
      if (trie.is_root(node)) break;
    }
  }
}

void CallTreeBuilder::forget_own_paths() {
  for (uint32_t node : touched_) {
    own_period_[node] = 0;
    own_count_[node] = 0;
  }
  touched_.clear();
}

std::vector<CallTreeBuilder::Part> CallTreeBuilder::first_steps(size_t row) const {
  const CallTrie& trie = profile_.trie();
  std::vector<Part> parts;
  if (upwards_) {
    for (uint32_t end_id : profile_.own_ends(row)) {
      const PathEnd& end = profile_.ends()[end_id];
      if (trie.is_root(end.node)) continue;
      uint32_t call = profile_.frames().call_of(trie.key(end.node));
      parts.push_back({call, end.node, true, end.count, end.period});
    }
    return parts;
  }
  std::vector<uint32_t> roots;
  for (uint32_t node : touched_)
    if (trie.is_root(node)) roots.push_back(node);
  for (uint32_t root : roots)
    for (uint32_t child : trie.children_of(root)) add_step(child, true, parts);
  if (profile_.options().children)
    for (uint32_t node : profile_.occurrences(row)) add_step(node, false, parts);
  return parts;
}

void CallTreeBuilder::add_step(uint32_t node, bool own, std::vector<Part>& out) const {
  uint64_t own_period = own_period_[node];
  uint32_t own_count = own_count_[node];
  uint64_t weight = own ? own_period : profile_.period_below(node) - own_period;
  uint32_t count = own ? own_count : profile_.count_below(node) - own_count;
  if (count == 0) return;
  out.push_back({profile_.frames().call_of(profile_.trie().key(node)), node, own, count, weight});
}

void CallTreeBuilder::add_caller(const Part& part, std::vector<Part>& out) const {
  uint32_t caller = profile_.trie().parent(part.node);
  if (profile_.trie().is_root(caller)) return;
  uint32_t call = profile_.frames().call_of(profile_.trie().key(caller));
  out.push_back({call, caller, true, part.count, part.weight});
}

void CallTreeBuilder::next_steps(std::span<const Part> parts, std::vector<Part>& out) const {
  for (const Part& part : parts) {
    if (upwards_) {
      add_caller(part, out);
      continue;
    }
    for (uint32_t child : profile_.trie().children_of(part.node)) add_step(child, part.own, out);
  }
}

/// Sorts parts by call, unites those at the same node, and returns the spans of equal calls.
std::vector<CallTreeBuilder::Group> CallTreeBuilder::group_by_call(std::vector<Part>& parts) {
  std::ranges::sort(parts, {}, [](const Part& p) { return std::tuple(p.call, p.node, p.own); });
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (kept > 0 && parts[kept - 1].node == parts[i].node && parts[kept - 1].own == parts[i].own) {
      parts[kept - 1].weight += parts[i].weight;
      parts[kept - 1].count += parts[i].count;
    } else {
      parts[kept++] = parts[i];
    }
  }
  parts.resize(kept);
  std::vector<Group> groups;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].call != parts[i - 1].call) groups.push_back({i, i});
    groups.back().end = i + 1;
    groups.back().weight += parts[i].weight;
    groups.back().count += parts[i].count;
  }
  return groups;
}

void CallTreeBuilder::sort_groups(const std::vector<Part>& parts,
                                  std::vector<Group>& groups) const {
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    if (options_.heaviest_first && a.weight != b.weight) return a.weight > b.weight;
    return profile_.frames().compare_calls(parts[a.begin].call, parts[b.begin].call) < 0;
  });
}

std::vector<uint32_t> CallTreeBuilder::make_nodes(std::vector<Part> parts, uint64_t below) {
  std::vector<Group> groups = group_by_call(parts);
  uint64_t least = options_.min_weight;
  if (options_.min_share_of_parent >= 0)
    least =
        static_cast<uint64_t>(std::ceil(static_cast<double>(below) * options_.min_share_of_parent));
  std::erase_if(groups, [&](const Group& group) { return group.weight < least; });
  sort_groups(parts, groups);
  std::vector<uint32_t> nodes;
  for (const Group& group : groups)
    nodes.push_back(make_node({parts.begin() + static_cast<ptrdiff_t>(group.begin),
                               parts.begin() + static_cast<ptrdiff_t>(group.end)},
                              group));
  return nodes;
}

uint32_t CallTreeBuilder::make_node(std::vector<Part> parts, const Group& group) {
  auto id = static_cast<uint32_t>(tree_.nodes_.size());
  CallTree::Node& made = tree_.nodes_.emplace_back();
  made.cumulative = group.weight;
  made.count = static_cast<uint32_t>(group.count);
  std::vector<Part> next;
  for (;;) {
    tree_.nodes_[id].calls.push_back(parts.front().call);
    next.clear();
    next_steps(parts, next);
    uint64_t weight = 0;
    uint64_t count = 0;
    bool one_call = true;
    for (const Part& part : next) {
      weight += part.weight;
      count += part.count;
      one_call = one_call && part.call == next.front().call;
    }
    if (next.empty() || !one_call || count != group.count) {
      tree_.nodes_[id].self = group.weight - weight;
      tree_.nodes_[id].self_count = static_cast<uint32_t>(group.count - count);
      break;
    }
    // The run goes on. Parts at the same node are united, so that callers of many don't pile up.
    group_by_call(next);
    parts.swap(next);
  }
  std::vector<uint32_t> children = make_nodes(std::move(next), tree_.nodes_[id].below());
  tree_.nodes_[id].children = std::move(children);
  return id;
}

}  // namespace sonde
