#include "tui/models/tree_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::tui {

using view::CallTree;
using view::GraphValue;

TreeLines::TreeLines(CallTree tree, const view::GraphOptions& graph)
    : tree_(std::move(tree)), graph_(graph), open_(tree_.nodes.size(), 0) {
  if (tree_.top.size() == 1 && tree_.nodes[tree_.top[0]].cumulative == tree_.row_weight)
    trunk_ = tree_.top[0];
  // What all paths have in common needs no decision.
  if (trunk_ != UINT32_MAX) open_[trunk_] = 1;
  make_lines();
}

void TreeLines::set_value(TreeLine& line, uint64_t weight, uint64_t count, uint64_t total) const {
  line.percent =
      total == 0 ? 0.0 : static_cast<double>(weight) * 100.0 / static_cast<double>(total);
  if (graph_.value == GraphValue::kPeriod)
    line.value = fmt::format("{}", weight);
  else if (graph_.value == GraphValue::kCount)
    line.value = fmt::format("{}", count);
  else
    line.value = fmt::format("{:.2f}%", *line.percent);
}

void TreeLines::make_lines() {
  lines_.clear();
  Above above{is_relative() ? tree_.row_weight : tree_.total_weight, 0, true};
  if (trunk_ == UINT32_MAX) return add_level(tree_.top, above, 0);
  const CallTree::Node& trunk = tree_.nodes[trunk_];
  bool shows_trunk = trunk.labels.size() > first(trunk_);
  if (shows_trunk) add_node(trunk_, above.total, 0, false);
  if (open_[trunk_] != 0 || !shows_trunk) add_level(trunk.children, above, shows_trunk ? 1 : 0);
}

void TreeLines::add_node(uint32_t id, uint64_t total, uint32_t depth, bool with_value) {
  const CallTree::Node& node = tree_.nodes[id];
  bool is_open = open_[id] != 0;
  for (size_t i = first(id); i < node.labels.size() && (i == first(id) || is_open); ++i) {
    TreeLine& line = lines_.emplace_back();
    line.node = id;
    line.label = static_cast<uint32_t>(i);
    line.depth = depth;
    line.text = node.labels[i];
    if (i != first(id)) continue;
    line.can_open = has_inside(id);
    line.is_open = is_open;
    if (with_value) set_value(line, node.cumulative, node.count, total);
  }
}

void TreeLines::add_level(const std::vector<uint32_t>& nodes, const Above& above, uint32_t depth) {
  uint64_t remaining = above.total, counted = 0, written = 0;
  for (uint32_t id : nodes) {
    const CallTree::Node& node = tree_.nodes[id];
    remaining -= node.cumulative;
    counted += node.count;
    add_node(id, above.total, depth, true);
    if (open_[id] != 0)
      add_level(node.children,
                {is_relative() ? node.below() : above.total, node.count - node.self_count, false},
                depth + 1);
    if (++written == graph_.limit) break;
  }
  if (is_relative() && remaining != 0 && remaining != above.total)
    add_rest(remaining, above.count - counted, above, depth);
}

void TreeLines::add_rest(uint64_t weight, uint64_t count, const Above& above, uint32_t depth) {
  if (graph_.value == GraphValue::kCount && !above.is_top && static_cast<int64_t>(count) <= 0)
    return;
  TreeLine& line = lines_.emplace_back();
  line.node = TreeLine::kRest;
  line.depth = depth;
  line.text = "[...]";
  set_value(line, weight, count, above.total);
}

void TreeLines::toggle(size_t line) {
  if (line >= lines_.size() || lines_[line].node == TreeLine::kRest) return;
  uint32_t node = lines_[line].node;
  if (!has_inside(node)) return;
  open_[node] ^= 1;
  make_lines();
}

void TreeLines::open_all(bool open) {
  open_.assign(open_.size(), open ? 1 : 0);
  make_lines();
}

size_t TreeLines::open_hottest() {
  uint32_t last = UINT32_MAX;
  const std::vector<uint32_t>* level = &tree_.top;
  while (!level->empty()) {
    uint32_t hottest = level->front();
    for (uint32_t node : *level)
      if (tree_.nodes[node].cumulative > tree_.nodes[hottest].cumulative) hottest = node;
    open_[hottest] = 1;
    last = hottest;
    level = &tree_.nodes[hottest].children;
  }
  make_lines();
  for (size_t i = lines_.size(); i-- > 0;)
    if (lines_[i].node == last) return i;
  return 0;
}

// --- what is unfolded, in another tree ---

std::vector<std::string> TreeLines::paths() const {
  std::vector<std::string> named(tree_.nodes.size());
  std::vector<uint32_t> left = tree_.top;
  for (uint32_t node : left) named[node] = "/";
  while (!left.empty()) {
    uint32_t node = left.back();
    left.pop_back();
    if (!tree_.nodes[node].labels.empty()) named[node] += tree_.nodes[node].labels[0];
    for (uint32_t child : tree_.nodes[node].children) {
      named[child] = named[node] + '\0';
      left.push_back(child);
    }
  }
  return named;
}

std::vector<std::string> TreeLines::open_paths() const {
  std::vector<std::string> named = paths(), found;
  for (size_t node = 0; node < named.size(); ++node)
    if (open_[node] != 0) found.push_back(std::move(named[node]));
  std::ranges::sort(found);
  return found;
}

void TreeLines::open_only(const std::vector<std::string>& wanted) {
  std::vector<std::string> named = paths();
  for (size_t node = 0; node < named.size(); ++node)
    open_[node] = std::ranges::binary_search(wanted, named[node]) ? 1 : 0;
  make_lines();
}

std::string TreeLines::path_of(size_t line) const {
  const TreeLine& at = lines_[line];
  return at.node == TreeLine::kRest ? std::string() : paths()[at.node];
}

std::optional<size_t> TreeLines::line_of(std::string_view path) const {
  std::vector<std::string> named = paths();
  for (size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].node != TreeLine::kRest && named[lines_[i].node] == path) return i;
  return std::nullopt;
}

}  // namespace sonde::tui
