#include "tui/models/layout_view.h"

#include <algorithm>

namespace sonde::tui {

using Kind = view::DataLayoutRow::Kind;

LayoutView::LayoutView(const view::DataLayout& layout)
    : layout_(layout), open_(layout.rows.size()) {
  for (size_t row = 0; row < layout.rows.size(); ++row)
    open_[row] = opens(row) && (layout.rows[row].depth == 0 ||
                                std::ranges::any_of(layout.hits_of(row), [](const auto& hits) {
                                  return hits.samples > 0;
                                }));
  rank();
  choose();
}

void LayoutView::rank() {
  for (size_t row = 0; row < layout_.rows.size(); ++row)
    if (layout_.rows[row].kind == Kind::kMember && layout_.hits_of(row)[0].samples > 0)
      hot_.push_back(row);
  std::ranges::stable_sort(hot_, std::greater<>(),
                           [&](size_t row) { return layout_.hits_of(row)[0].period; });
}

void LayoutView::choose() {
  lines_.clear();
  for (size_t row = 0; row < layout_.rows.size(); ++row) {
    lines_.push_back(row);
    if (!opens(row) || open_[row]) continue;
    uint32_t depth = layout_.rows[row].depth;  // its end has the same depth
    while (row + 1 < layout_.rows.size() &&
           !(layout_.rows[row].kind == Kind::kCloses && layout_.rows[row].depth == depth))
      ++row;
  }
}

void LayoutView::set_height(size_t lines) {
  height_ = std::max<size_t>(lines, 1);
  to(cursor_);
}

void LayoutView::move(ptrdiff_t lines) {
  auto place = static_cast<ptrdiff_t>(cursor_) + lines;
  to(place < 0 ? 0 : static_cast<size_t>(place));
}

void LayoutView::to(size_t place) {
  cursor_ = lines_.empty() ? 0 : std::min(place, lines_.size() - 1);
  if (cursor_ < top_) top_ = cursor_;
  if (cursor_ >= top_ + height_) top_ = cursor_ - height_ + 1;
  top_ = std::min(top_, lines_.size() > height_ ? lines_.size() - height_ : 0);
}

/// The cursor stays on a row, or moves to the one it was folded into.
void LayoutView::keep_row(size_t row) {
  choose();
  auto after = std::ranges::upper_bound(lines_, row);
  to(after == lines_.begin() ? 0 : static_cast<size_t>(after - lines_.begin()) - 1);
}

bool LayoutView::toggle() {
  if (lines_.empty()) return false;
  size_t row = lines_[cursor_];
  if (!opens(row)) return false;
  open_[row] = !open_[row];
  keep_row(row);
  return true;
}

void LayoutView::open_all(bool open) {
  if (lines_.empty()) return;
  size_t row = lines_[cursor_];
  for (size_t i = 0; i < open_.size(); ++i)
    open_[i] = opens(i) && (open || layout_.rows[i].depth == 0);
  keep_row(row);
}

bool LayoutView::to_hot(ptrdiff_t step) {
  if (hot_.empty()) return false;
  if (hot_at_ == SIZE_MAX)
    hot_at_ = 0;
  else
    hot_at_ = (hot_at_ + hot_.size() + static_cast<size_t>(step)) % hot_.size();
  size_t row = hot_[hot_at_];
  // Its ancestors: the nearest rows above that open and are less deep.
  uint32_t depth = layout_.rows[row].depth;
  for (size_t above = row; above-- > 0;) {
    if (!opens(above) || layout_.rows[above].depth >= depth) continue;
    depth = layout_.rows[above].depth;
    open_[above] = true;
  }
  keep_row(row);
  return true;
}

}  // namespace sonde::tui
