// Grid: the screen as cells, drawn by views and turned into bytes by ScreenWriter.
//
//   Grid grid(24, 80);
//   grid.put(0, 0, "Samples: 12K", theme.bar);
//
// Drawing outside the grid is clipped, so views need not know how small a terminal is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tui/terminal/style.h"

namespace sonde::tui {

struct Cell {
  char32_t character = ' ';
  Style style = {};
  bool is_second_half = false;  // of the wide character to its left
  bool operator==(const Cell&) const = default;
};

class Grid {
 public:
  Grid(size_t rows, size_t columns) : rows_(rows), columns_(columns), cells_(rows * columns) {}

  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] size_t columns() const { return columns_; }
  [[nodiscard]] const Cell& at(size_t row, size_t column) const {
    return cells_[row * columns_ + column];
  }

  /// Writes at most `limit` columns of a text; returns the column after it.
  size_t put(size_t row, size_t column, std::string_view text, const Style& style,
             size_t limit = SIZE_MAX);
  /// Fills with blanks in a style.
  void fill(size_t row, size_t column, size_t width, const Style& style);
  /// Changes the style of the cells in [from, to), but not their text.
  void restyle(size_t row, size_t from, size_t to, const Style& style);
  /// Copies another grid's cells, as far as there is room.
  void place(size_t row, size_t column, const Grid& part);
  /// The text of a row, without trailing blanks.
  [[nodiscard]] std::string row_text(size_t row) const;

 private:
  /// Replaces a half-overwritten wide character with a blank.
  void free_halves(size_t row, size_t column);
  Cell& cell(size_t row, size_t column) { return cells_[row * columns_ + column]; }
  size_t rows_, columns_;
  std::vector<Cell> cells_;
};

}  // namespace sonde::tui
