// ListingView: navigates the code of a function: cursor, following jumps and going back, stepping
// through the hottest instructions, source lines shown or hidden. Pure model.
#pragma once

#include <optional>
#include <vector>

#include "tui/models/text_match.h"
#include "view/listing.h"

namespace sonde::tui {

class ListingView {
 public:
  ListingView(const view::Listing& listing, view::ListingPercent percent);

  [[nodiscard]] const view::Listing& listing() const { return listing_; }
  /// The visible lines of the listing.
  [[nodiscard]] const std::vector<size_t>& lines() const { return lines_; }
  /// Both are indexes into lines().
  [[nodiscard]] size_t cursor() const { return cursor_; }
  [[nodiscard]] size_t top() const { return top_; }
  [[nodiscard]] view::ListingPercent percent_type() const { return percent_; }
  [[nodiscard]] double percent(size_t line, size_t event) const;

  void set_height(size_t lines);
  void move(ptrdiff_t lines);
  void page(ptrdiff_t pages) {
    move(pages * static_cast<ptrdiff_t>(height_ > 1 ? height_ - 1 : 1));
  }
  void to(size_t place);
  void to_first() { to(0); }
  void to_last() { to(SIZE_MAX); }

  /// The target of the jump at a visible line, if it is in this function.
  [[nodiscard]] std::optional<size_t> jump_of(size_t place) const;
  bool follow();
  bool back();
  /// Goes to the hottest instruction, then to the next or the previous one.
  bool to_hot(ptrdiff_t step);
  void show_source(bool shown);
  [[nodiscard]] bool shows_source() const { return source_; }
  void next_percent_type();
  bool search(const TextMatch& match, ptrdiff_t step);

 private:
  void choose();
  void rank();
  void keep_line(size_t line);

  const view::Listing& listing_;
  view::ListingPercent percent_;
  bool source_ = true;
  std::vector<size_t> lines_;
  std::vector<size_t> hot_;        // instructions with samples, hottest first
  std::optional<size_t> hot_at_;   // index into hot_
  std::vector<size_t> came_from_;  // lines of the listing
  size_t cursor_ = 0, top_ = 0, height_ = 1;
};

}  // namespace sonde::tui
