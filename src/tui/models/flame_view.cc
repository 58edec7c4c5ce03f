#include "tui/models/flame_view.h"

#include <algorithm>
#include <cmath>

namespace sonde::tui {

const std::vector<FlameBox>& FlameView::layout(size_t columns) {
  if (columns == columns_) return boxes_;
  uint32_t at_hand = boxes_.empty() ? path_.back() : boxes_[cursor_].node;
  boxes_.clear();
  add(path_.back(), 0, 0, static_cast<double>(columns), SIZE_MAX, columns);
  columns_ = columns;
  auto found = std::ranges::find(boxes_, at_hand, &FlameBox::node);
  cursor_ = found == boxes_.end() ? 0 : static_cast<size_t>(found - boxes_.begin());
  return boxes_;
}

void FlameView::add(uint32_t node, size_t depth, double from, double width, size_t parent,
                    size_t columns) {
  auto left = static_cast<size_t>(std::lround(from));
  auto right = std::min(static_cast<size_t>(std::lround(from + width)), columns);
  if (right <= left) return;
  size_t own = boxes_.size();
  boxes_.push_back({node, depth, left, right, parent});
  double whole = static_cast<double>(tree_.weight(node));
  if (whole <= 0) return;
  for (uint32_t child : tree_.children(node)) {
    double part = width * static_cast<double>(tree_.weight(child)) / whole;
    add(child, depth + 1, from, part, own, columns);
    from += part;
  }
}

void FlameView::up() {
  if (!boxes_.empty() && boxes_[cursor_].parent != SIZE_MAX) cursor_ = boxes_[cursor_].parent;
}

void FlameView::down() {
  size_t widest = SIZE_MAX;
  for (size_t i = cursor_ + 1; i < boxes_.size(); ++i)
    if (boxes_[i].parent == cursor_ &&
        (widest == SIZE_MAX || tree_.weight(boxes_[i].node) > tree_.weight(boxes_[widest].node)))
      widest = i;
  if (widest != SIZE_MAX) cursor_ = widest;
}

void FlameView::side(ptrdiff_t step) {
  if (boxes_.empty()) return;
  size_t depth = boxes_[cursor_].depth;
  for (auto i = static_cast<ptrdiff_t>(cursor_) + step;
       i >= 0 && i < static_cast<ptrdiff_t>(boxes_.size()); i += step)
    if (boxes_[static_cast<size_t>(i)].depth == depth) {
      cursor_ = static_cast<size_t>(i);
      return;
    }
}

bool FlameView::zoom() {
  if (boxes_.empty() || boxes_[cursor_].node == path_.back()) return false;
  path_.push_back(boxes_[cursor_].node);
  columns_ = 0;
  return true;
}

bool FlameView::undo() {
  if (path_.size() == 1) return false;
  path_.pop_back();
  columns_ = 0;
  return true;
}

double FlameView::percent(uint32_t node) const {
  uint64_t all = tree_.weight(path_.front());
  return all == 0 ? 0 : 100 * static_cast<double>(tree_.weight(node)) / static_cast<double>(all);
}

}  // namespace sonde::tui
