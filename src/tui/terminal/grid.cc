#include "tui/terminal/grid.h"

#include <algorithm>

#include "tui/terminal/glyphs.h"

namespace sonde::tui {

void Grid::free_halves(size_t row, size_t column) {
  Cell& here = cell(row, column);
  if (here.is_second_half && column > 0) cell(row, column - 1).character = ' ';
  if (column + 1 < columns_ && cell(row, column + 1).is_second_half) {
    cell(row, column + 1).is_second_half = false;
    cell(row, column + 1).character = ' ';
  }
}

size_t Grid::put(size_t row, size_t column, std::string_view text, const Style& style,
                 size_t limit) {
  if (row >= rows_) return column;
  size_t end = limit < columns_ && column < columns_ - limit ? column + limit : columns_;
  while (!text.empty() && column < end) {
    char32_t character = take_character(text);
    auto width = static_cast<size_t>(width_of(character));
    if (width == 0) continue;
    if (column + width > end) break;
    free_halves(row, column);
    cell(row, column) = {character, style, false};
    if (width == 2) {
      free_halves(row, column + 1);
      cell(row, column + 1) = {' ', style, true};
    }
    column += width;
  }
  return column;
}

void Grid::fill(size_t row, size_t column, size_t width, const Style& style) {
  if (row >= rows_) return;
  for (size_t end = std::min(columns_, column + std::min(width, columns_)); column < end;
       ++column) {
    free_halves(row, column);
    cell(row, column) = {' ', style, false};
  }
}

void Grid::restyle(size_t row, size_t from, size_t to, const Style& style) {
  if (row >= rows_) return;
  for (size_t i = from; i < std::min(to, columns_); ++i) cell(row, i).style = style;
}

void Grid::place(size_t row, size_t column, const Grid& part) {
  for (size_t i = 0; i < part.rows_ && row + i < rows_; ++i)
    for (size_t j = 0; j < part.columns_ && column + j < columns_; ++j)
      cell(row + i, column + j) = part.at(i, j);
}

std::string Grid::row_text(size_t row) const {
  std::string text;
  for (size_t i = 0; i < columns_; ++i)
    if (!at(row, i).is_second_half) append_character(text, at(row, i).character);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace sonde::tui
