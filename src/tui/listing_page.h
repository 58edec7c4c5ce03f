// A function's code on the screen: percentages per event, an arrow from the jump at hand to where
// it goes, addresses, instructions, source lines between them.
#pragma once

#include <functional>
#include <string>

#include "tui/listing_view.h"
#include "tui/page.h"

namespace sonde::tui {

class ListingPage final : public Page {
 public:
  /// Fills in the types of data that instructions touch; says why there are none, or nothing.
  using FindTypes = std::function<std::string(view::Listing&)>;

  ListingPage(const Theme& theme, view::Listing listing, view::ListingPercent percent, bool source,
              FindTypes find_types);
  /// Types of data behind the instructions; says it where there are none.
  void show_types(Pages& pages);
  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;
  [[nodiscard]] const ListingView& view() const { return view_; }

 private:
  void draw_line(Grid& grid, size_t row, size_t place) const;
  void draw_arrow(Grid& grid, size_t row, size_t place, size_t column) const;
  bool other_key(const Key& key, Pages& pages);
  void ask_search(Pages& pages);
  void show_help(Pages& pages) const;

  const Theme& theme_;
  view::Listing listing_;
  ListingView view_;
  size_t address_width_ = 0, shift_ = 0, first_row_ = 2;
  bool was_drawn_ = false;
  FindTypes find_types_;  // empty when it was asked
  bool shows_types_ = false;
  std::string no_types_;    // why
  size_t type_column_ = 0;  // from where the text begins
  TextMatch wanted_;
};

}  // namespace sonde::tui
