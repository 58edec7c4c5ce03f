// From grids to bytes: only what changed since the last grid is written.
#pragma once

#include <optional>
#include <string>

#include "tui/grid.h"

namespace sonde::tui {

class ScreenWriter {
 public:
  ScreenWriter(ColorDepth depth, bool utf8) : depth_(depth), utf8_(utf8) {}

  /// What makes a terminal that shows the last grid show this one.
  [[nodiscard]] std::string update(Grid grid);
  /// The terminal shows something else: the next update writes everything.
  void forget() { shown_.reset(); }

 private:
  void write_row(std::string& out, const Grid& grid, size_t row);
  [[nodiscard]] bool same(const Grid& grid, size_t row, size_t column) const {
    return shown_ && shown_->at(row, column) == grid.at(row, column);
  }
  /// The character, or what stands for it where only ASCII can be shown.
  [[nodiscard]] char32_t shown(char32_t character) const;

  ColorDepth depth_;
  bool utf8_;
  std::optional<Grid> shown_;
  std::optional<Style> style_;  // the terminal's present one
};

}  // namespace sonde::tui
