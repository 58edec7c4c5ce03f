// A function's code on the screen: percentages per event, an arrow from the selected jump to its
// target, addresses, instructions, and interleaved source lines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tui/models/listing_view.h"
#include "tui/pages/page.h"

namespace sonde::tui {

/// Finds the data types that instructions touch, on its own thread: it may have to read much debug
/// information.
class TypesOfListing {
 public:
  struct Found {
    std::vector<std::string> of_lines;  // by line of the listing, see ListingLine::data_type
    std::string why_none;               // empty if there are some
  };
  virtual ~TypesOfListing() = default;
  /// `wake` rings when they are found, and must outlive this.
  virtual void ask(const view::Listing& listing, const Wake& wake) = 0;
  /// The result, once it is found.
  virtual std::optional<Found> take() = 0;
};

class ListingPage final : public Page {
 public:
  /// `types` may be null: no types are shown then.
  ListingPage(const Theme& theme, view::Listing listing, view::ListingPercent percent, bool source,
              std::unique_ptr<TypesOfListing> types);
  /// Shows data types after the instructions, as soon as they are found; says so if there are none.
  void show_counters(Pages& pages) const;
  void show_types(Pages& pages);
  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;
  void on_wake(Pages& pages) override;
  [[nodiscard]] const ListingView& view() const { return view_; }

 private:
  void draw_line(Grid& grid, size_t row, size_t place) const;
  void draw_arrow(Grid& grid, size_t row, size_t place, size_t column) const;
  bool other_key(const Key& key, Pages& pages);
  [[nodiscard]] size_t counters_width() const;  // of the column, with a blank
  void draw_cycles(Grid& grid, size_t row, size_t column, const view::ListingBranches& branches,
                   const Style& style) const;
  [[nodiscard]] size_t arrow_column() const;
  void ask_search(Pages& pages);
  void show_help(Pages& pages) const;

  const Theme& theme_;
  view::Listing listing_;
  ListingView view_;
  size_t address_width_ = 0, shift_ = 0, first_row_ = 2;
  bool was_drawn_ = false;
  bool shows_range_ = false;  // the least and the most cycles of a block, too
  std::unique_ptr<TypesOfListing> types_;
  enum class Types : uint8_t { kNotAsked, kAwaited, kKnown } types_state_ = Types::kNotAsked;
  bool shows_types_ = false;
  std::string no_types_ = "the type of the data here is not known";  // empty: there are some
  size_t type_column_ = 0;                                           // from the start of the text
  TextMatch wanted_;
};

}  // namespace sonde::tui
