// A row's call tree as lines, unfolded as far as the user asked: the same nodes, percentages and
// order as the tree of `--stdio` (render/call_tree_text.h).
//
//   - 62.50% work            node, open
//        helper              the chain of calls that the node stands for
//      + 40.00% read         node below it, closed
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/call_tree.h"

namespace sonde::tui {

struct TreeLine {
  static constexpr uint32_t kRest = UINT32_MAX;
  uint32_t node = 0;   // kRest: what fell below the threshold, "[...]"
  uint32_t label = 0;  // index into the node's chain
  uint32_t depth = 0;
  bool can_open = false, is_open = false;
  std::optional<double> percent;  // nullopt if all paths pass through it
  std::string value = {};         // "62.50%", or the period or count that -g asks for
  std::string_view text = {};     // owned by the tree
};

class TreeLines {
 public:
  TreeLines(view::CallTree tree, const view::GraphOptions& graph);
  TreeLines(const TreeLines&) = delete;  // lines refer to the tree
  TreeLines& operator=(const TreeLines&) = delete;

  [[nodiscard]] const std::vector<TreeLine>& lines() const { return lines_; }
  [[nodiscard]] const view::CallTree& tree() const { return tree_; }
  [[nodiscard]] bool empty() const { return tree_.top.empty(); }

  void toggle(size_t line);
  void open_all(bool open);
  /// Follows the heaviest calls to their end; returns the line where they end.
  size_t open_hottest();

  // The unfolded nodes, identified by their calls, so that they can be found in another tree.
  [[nodiscard]] std::vector<std::string> open_paths() const;
  /// Unfolds these paths, which must be in order, and nothing else.
  void open_only(const std::vector<std::string>& paths);
  [[nodiscard]] std::string path_of(size_t line) const;
  [[nodiscard]] std::optional<size_t> line_of(std::string_view path) const;

 private:
  [[nodiscard]] bool is_relative() const { return graph_.style == view::GraphStyle::kRelative; }
  [[nodiscard]] bool has_inside(uint32_t node) const {
    return !tree_.nodes[node].children.empty() || tree_.nodes[node].labels.size() > first(node) + 1;
  }
  /// The first label shown.
  [[nodiscard]] size_t first(uint32_t node) const {
    return node == trunk_ && graph_.skip_first ? 1 : 0;
  }
  /// By node.
  [[nodiscard]] std::vector<std::string> paths() const;
  void make_lines();
  /// What the nodes of a level share: their parent's totals.
  struct Above {
    uint64_t total = 0;  // the base of percentages
    uint64_t count = 0;  // samples that go on below the parent; 0 at the top
    bool is_top = false;
  };
  void add_level(const std::vector<uint32_t>& nodes, const Above& above, uint32_t depth);
  void add_node(uint32_t node, uint64_t total, uint32_t depth, bool with_value);
  void add_rest(uint64_t weight, uint64_t count, const Above& above, uint32_t depth);
  void set_value(TreeLine& line, uint64_t weight, uint64_t count, uint64_t total) const;

  view::CallTree tree_;
  view::GraphOptions graph_;
  uint32_t trunk_ = UINT32_MAX;
  std::vector<uint8_t> open_;  // by node
  std::vector<TreeLine> lines_;
};

}  // namespace sonde::tui
