// Turns grids into bytes: writes only what changed since the last grid.
#pragma once

#include <optional>
#include <string>

#include "tui/terminal/grid.h"

namespace sonde::tui {

class ScreenWriter {
 public:
  ScreenWriter(ColorDepth depth, bool utf8) : depth_(depth), utf8_(utf8) {}

  /// The bytes that turn a terminal showing the last grid into one showing this grid.
  [[nodiscard]] std::string update(Grid grid);
  /// The terminal shows something else: the next update writes everything.
  void forget() { shown_.reset(); }

 private:
  void write_row(std::string& out, const Grid& grid, size_t row);
  [[nodiscard]] bool same(const Grid& grid, size_t row, size_t column) const {
    return shown_ && shown_->at(row, column) == grid.at(row, column);
  }
  /// The character, or its substitute if only ASCII can be shown.
  [[nodiscard]] char32_t shown(char32_t character) const;

  ColorDepth depth_;
  bool utf8_;
  std::optional<Grid> shown_;
  std::optional<Style> style_;  // the terminal's current one
};

}  // namespace sonde::tui
