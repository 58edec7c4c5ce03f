// FlameView: a flame graph that hangs from the top of the screen: boxes as wide as their share of
// the samples, callees below their callers; one box is selected, and any can be zoomed to the full
// width. Pure model; boxes too narrow for a column are never visited.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tui/models/text_match.h"

namespace sonde::tui {

/// A call tree, queried node by node. Names live as long as the tree.
class FlameTree {
 public:
  virtual ~FlameTree() = default;
  [[nodiscard]] virtual uint32_t root() const = 0;
  /// In display order.
  [[nodiscard]] virtual std::vector<uint32_t> children(uint32_t node) const = 0;
  [[nodiscard]] virtual std::string_view name(uint32_t node) const = 0;
  [[nodiscard]] virtual uint64_t weight(uint32_t node) const = 0;
};

struct FlameBox {
  uint32_t node = 0;
  size_t depth = 0;
  size_t from = 0, to = 0;   // columns
  size_t parent = SIZE_MAX;  // box
};

class FlameView {
 public:
  explicit FlameView(const FlameTree& tree) : tree_(tree), path_{tree.root()} {}

  /// The boxes for that many columns, callers before callees; laid out anew if anything changed.
  const std::vector<FlameBox>& layout(size_t columns);
  [[nodiscard]] const std::vector<FlameBox>& boxes() const { return boxes_; }
  /// The selected box.
  [[nodiscard]] size_t cursor() const { return cursor_; }
  void to(size_t box) { cursor_ = box < boxes_.size() ? box : cursor_; }

  void up();
  void down();                // to the widest callee
  void side(ptrdiff_t step);  // at the same depth
  /// Zooms the selected box to the full width; false if it already has it.
  bool zoom();
  bool undo();
  [[nodiscard]] double percent(uint32_t node) const;  // of the total

 private:
  void add(uint32_t node, size_t depth, double from, double width, size_t parent, size_t columns);
  const FlameTree& tree_;
  std::vector<uint32_t> path_;  // the zoom history; the last one has the full width
  std::vector<FlameBox> boxes_;
  size_t cursor_ = 0, columns_ = 0;
};

}  // namespace sonde::tui
