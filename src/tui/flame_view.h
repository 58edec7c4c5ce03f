// FlameView: a flame graph that hangs from the top of the screen: boxes as wide as their part of
// the samples, callees below their callers; one box is at hand, and any can become the whole
// width. Pure model: what is too narrow for a column is never looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tui/text_match.h"

namespace sonde::tui {

/// A tree of calls, asked node by node. Names hold as long as it does.
class FlameTree {
 public:
  virtual ~FlameTree() = default;
  [[nodiscard]] virtual uint32_t root() const = 0;
  /// In the order in which they stand.
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

  /// Boxes of so many columns, callers before callees; laid out anew where something changed.
  const std::vector<FlameBox>& layout(size_t columns);
  [[nodiscard]] const std::vector<FlameBox>& boxes() const { return boxes_; }
  /// The box at hand.
  [[nodiscard]] size_t cursor() const { return cursor_; }
  void to(size_t box) { cursor_ = box < boxes_.size() ? box : cursor_; }

  void up();
  void down();                // to the widest callee
  void side(ptrdiff_t step);  // on the same depth
  /// The box at hand becomes the whole width; false where it is that.
  bool zoom();
  bool undo();
  [[nodiscard]] double percent(uint32_t node) const;  // of everything

 private:
  void add(uint32_t node, size_t depth, double from, double width, size_t parent, size_t columns);
  const FlameTree& tree_;
  std::vector<uint32_t> path_;  // what was zoomed into; the last is the whole width
  std::vector<FlameBox> boxes_;
  size_t cursor_ = 0, columns_ = 0;
};

}  // namespace sonde::tui
