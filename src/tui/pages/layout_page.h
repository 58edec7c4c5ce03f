// A data type on the screen: its members with the share of the samples that touched each, and
// nested structures that unfold.
#pragma once

#include "tui/models/layout_view.h"
#include "tui/pages/page.h"

namespace sonde::tui {

class LayoutPage final : public Page {
 public:
  /// `layout` has at least one row and one event.
  LayoutPage(const Theme& theme, view::DataLayout layout);
  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;
  [[nodiscard]] const LayoutView& view() const { return view_; }

 private:
  void draw_titles(Grid& grid) const;
  void draw_line(Grid& grid, size_t row, size_t place) const;
  void draw_values(Grid& grid, size_t row, size_t at, const Style* cursor) const;
  [[nodiscard]] size_t value_width() const;
  [[nodiscard]] std::string value_of(const view::ListingHits& hits,
                                     const view::ListingHits& total) const;
  bool fold_key(const Key& key);
  void show_help(Pages& pages) const;

  enum class Values : uint8_t { kPercent, kSamples, kPeriod };

  const Theme& theme_;
  view::DataLayout layout_;
  LayoutView view_;
  Values values_ = Values::kPercent;
  size_t shift_ = 0;
  bool was_drawn_ = false;
};

}  // namespace sonde::tui
