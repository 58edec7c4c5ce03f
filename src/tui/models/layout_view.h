// LayoutView: navigates the members of a data type, with nested structures that unfold and fold.
// Pure model.
#pragma once

#include <vector>

#include "view/data_layout.h"

namespace sonde::tui {

class LayoutView {
 public:
  /// Nested structures start unfolded if they have samples. The layout must outlive this.
  explicit LayoutView(const view::DataLayout& layout);

  /// The visible rows of the layout.
  [[nodiscard]] const std::vector<size_t>& lines() const { return lines_; }
  /// Both are indexes into lines().
  [[nodiscard]] size_t cursor() const { return cursor_; }
  [[nodiscard]] size_t top() const { return top_; }
  [[nodiscard]] bool is_open(size_t row) const { return open_[row]; }

  void set_height(size_t lines);
  void move(ptrdiff_t lines);
  void page(ptrdiff_t pages) {
    move(pages * static_cast<ptrdiff_t>(height_ > 1 ? height_ - 1 : 1));
  }
  void to(size_t place);
  void to_first() { to(0); }
  void to_last() { to(SIZE_MAX); }
  /// False if the row at the cursor has no members.
  bool toggle();
  void open_all(bool open);
  /// Goes to the member with the most samples, then to the next or the previous one; unfolds the
  /// structures around it. False if no member has samples.
  bool to_hot(ptrdiff_t step);

 private:
  [[nodiscard]] bool opens(size_t row) const {
    return layout_.rows[row].kind == view::DataLayoutRow::Kind::kOpens;
  }
  void choose();
  void keep_row(size_t row);
  void rank();

  const view::DataLayout& layout_;
  std::vector<bool> open_;  // by row
  std::vector<size_t> lines_;
  std::vector<size_t> hot_;  // leaf members with samples, hottest first
  size_t hot_at_ = SIZE_MAX;
  size_t cursor_ = 0, top_ = 0, height_ = 1;
};

}  // namespace sonde::tui
