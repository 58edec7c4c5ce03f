#include "tui/terminal/screen_writer.h"

#include <fmt/format.h>

#include "tui/terminal/glyphs.h"

namespace sonde::tui {

char32_t ScreenWriter::shown(char32_t character) const {
  if (utf8_ || character < 0x80) return character;
  switch (character) {
    case U'│':
    case U'┃':
      return '|';
    case U'─':
      return '-';
    case U'▸':
    case U'›':
      return '>';
    case U'▾':
    case U'↓':
      return 'v';
    case U'↑':
      return '^';
    case U'→':
      return '>';
    case U'←':
      return '<';
    case U'·':
      return ',';
    case U'█':
      return '#';
    case U'┌':
    case U'┐':
    case U'└':
    case U'┘':
    case U'├':
    case U'┤':
      return '+';
    default:
      return '?';
  }
}

void ScreenWriter::write_row(std::string& out, const Grid& grid, size_t row) {
  bool is_there = false;  // the terminal's cursor is at this column
  for (size_t column = 0; column < grid.columns(); ++column) {
    const Cell& cell = grid.at(row, column);
    if (same(grid, row, column)) {
      is_there = false;
      continue;
    }
    if (cell.is_second_half) continue;
    if (!is_there) out += fmt::format("\033[{};{}H", row + 1, column + 1);
    if (style_ != cell.style) out += sgr(cell.style, depth_);
    style_ = cell.style;
    char32_t character = shown(cell.character);
    append_character(out, character);
    is_there = true;
    bool was_wide = column + 1 < grid.columns() && grid.at(row, column + 1).is_second_half;
    if (was_wide && !utf8_) out += '?';
    // Terminals may disagree about a character's width: position the next one explicitly.
    if (was_wide || character >= 0x2e80) is_there = false;
  }
}

std::string ScreenWriter::update(Grid grid) {
  std::string out;
  if (!shown_ || shown_->rows() != grid.rows() || shown_->columns() != grid.columns()) {
    shown_.reset();
    style_.reset();
    out += "\033[0m\033[2J";
  }
  for (size_t row = 0; row < grid.rows(); ++row) write_row(out, grid, row);
  shown_ = std::move(grid);
  return out;
}

}  // namespace sonde::tui
