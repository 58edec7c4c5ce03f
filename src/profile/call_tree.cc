#include "profile/call_tree.h"

#include <algorithm>
#include <cmath>

namespace sonde {

CallTreeBuilder::CallTreeBuilder(const Profile& profile, const ProfileInput* input)
    : profile_(profile), input_(profile.options().branch_counts ? input : nullptr) {}

CallTree CallTreeBuilder::build(size_t row, const CallTreeOptions& options) {
  options_ = options;
  tree_ = CallTree();
  if (profile_.options().children) sum_own_ends(row);
  std::vector<Part> parts = first_steps(row);
  uint64_t total = 0;
  for (const Part& part : parts) total += part.weight;
  tree_.total_ = total;
  shown_.clear();
  tree_.top_ = make_nodes(std::move(parts), total);
  if (input_ != nullptr) count_branches(row);
  return std::move(tree_);
}

void CallTreeBuilder::sum_own_ends(size_t row) {
  own_nodes_.clear();
  own_sums_.assign(1, {});
  for (uint32_t id : profile_.own_ends(row)) {
    const PathEnd& end = profile_.ends()[id];
    own_nodes_.push_back(end.node);
    own_sums_.push_back({own_sums_.back().period + end.period, own_sums_.back().count + end.count});
  }
}

CallTreeBuilder::Weight CallTreeBuilder::own_below(uint32_t node) const {
  auto index_of = [this](uint32_t first) {
    return static_cast<size_t>(std::ranges::lower_bound(own_nodes_, first) - own_nodes_.begin());
  };
  const Weight& before = own_sums_[index_of(node)];
  const Weight& after = own_sums_[index_of(profile_.trie().end_of(node))];
  return {after.period - before.period, after.count - before.count};
}

std::vector<CallTreeBuilder::Part> CallTreeBuilder::first_steps(size_t row) const {
  std::vector<Part> parts;
  if (uint32_t root = profile_.root_of(row); root != CallTrie::kNone)
    add_children(root, true, parts);
  if (profile_.options().children)
    for (uint32_t node : profile_.occurrences(row)) add_step(node, false, parts);
  return parts;
}

void CallTreeBuilder::add_step(uint32_t node, bool own, std::vector<Part>& out) const {
  Weight weight{profile_.period_below(node), profile_.count_below(node)};
  if (profile_.options().children) {
    Weight of_own = own_below(node);
    weight = own ? of_own : Weight{weight.period - of_own.period, weight.count - of_own.count};
  }
  if (weight.count == 0) return;
  out.push_back({profile_.frames().call_of(profile_.trie().key(node)), node, own,
                 static_cast<uint32_t>(weight.count), weight.period});
}

void CallTreeBuilder::add_children(uint32_t node, bool own, std::vector<Part>& out) const {
  const CallTrie& trie = profile_.trie();
  // Without `children`, everything below the row's root is its own.
  if (!own || !profile_.options().children) {
    for (uint32_t child : trie.children_of(node)) add_step(child, own, out);
    return;
  }
  // Thousands of rows may share a root with thousands of children, so only visits those that lead
  // to the row's own samples.
  auto at = std::ranges::upper_bound(own_nodes_, node);
  while (at != own_nodes_.end() && *at < trie.end_of(node)) {
    uint32_t child = trie.child_towards(node, *at);
    add_step(child, true, out);
    at = std::lower_bound(at, own_nodes_.end(), trie.end_of(child));
  }
}

void CallTreeBuilder::next_steps(std::span<const Part> parts, std::vector<Part>& out) const {
  for (const Part& part : parts) add_children(part.node, part.own, out);
}

/// Sorts parts by call, and returns the spans of equal calls.
std::vector<CallTreeBuilder::Group> CallTreeBuilder::group_by_call(std::vector<Part>& parts) {
  std::ranges::sort(parts, {}, [](const Part& p) { return std::tuple(p.call, p.node, p.own); });
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
    if (input_ != nullptr) note_place(parts, id);
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
    parts.swap(next);
  }
  std::vector<uint32_t> children = make_nodes(std::move(next), tree_.nodes_[id].below());
  tree_.nodes_[id].children = std::move(children);
  return id;
}

namespace {

uint64_t place_of(uint32_t node, bool own) {
  return uint64_t{node} << 1 | (own ? 1 : 0);
}

}  // namespace

void CallTreeBuilder::note_place(std::span<const Part> parts, uint32_t node) {
  auto call = static_cast<uint32_t>(tree_.nodes_[node].calls.size() - 1);
  for (const Part& part : parts) shown_[place_of(part.node, part.own)] = {node, call};
  tree_.nodes_[node].branches.emplace_back();
}

/// Reads the row's samples again: what their branches say is nowhere else, as it would take far
/// more memory than the paths.
void CallTreeBuilder::count_branches(size_t row) {
  std::vector<std::pair<EndSample, bool>> members;
  auto add = [&](uint32_t end, bool own) {
    for (const EndSample& member : profile_.members(end)) members.emplace_back(member, own);
  };
  auto add_below = [&](uint32_t node, bool own) {
    auto first = std::ranges::lower_bound(profile_.ends(), node, {}, &PathEnd::node);
    for (; first != profile_.ends().end() && first->node < profile_.trie().end_of(node); ++first)
      if (own || first->row != row)
        add(static_cast<uint32_t>(first - profile_.ends().begin()), own);
  };
  if (profile_.options().children) {
    for (uint32_t end : profile_.own_ends(row)) add(end, true);
    for (uint32_t node : profile_.occurrences(row)) add_below(node, false);
  } else if (uint32_t root = profile_.root_of(row); root != CallTrie::kNone) {
    add_below(root, true);
  }
  std::ranges::sort(members, [&](const auto& a, const auto& b) {
    return is_earlier(input_->samples, a.first.sample, b.first.sample);
  });
  for (const auto& [member, own] : members) count_branches_of(member, own);
}

void CallTreeBuilder::count_branches_of(const EndSample& member, bool own) {
  steps_.clear();
  if (Sample sample; input_->details.decode(member.sample, sample))
    input_->details.branch_path(sample, member.sample, steps_);
  const PathEnd& end = profile_.ends()[member.end];
  // Callees may have been left out (--ignore-callees).
  size_t left_out = std::max<size_t>(steps_.size(), end.depth) - end.depth;
  uint32_t node = end.node;
  for (uint32_t depth = end.depth; depth-- > 0; node = profile_.trie().parent(node)) {
    auto place = shown_.find(place_of(node, own));
    if (place == shown_.end()) continue;
    size_t index = profile_.options().caller_order ? end.depth - 1 - depth : left_out + depth;
    CallTree::Node& shown = tree_.nodes_[place->second.node];
    shown.branches[place->second.call].add(index < steps_.size() ? steps_[index] : PathStep());
  }
}

}  // namespace sonde
