// Draws a TableView: a title line, then rows and their call trees, with the text of `report
// --stdio` and markers for what can be unfolded.
#pragma once

#include "tui/models/table_view.h"
#include "tui/terminal/grid.h"

namespace sonde::tui {

class TablePainter {
 public:
  explicit TablePainter(const Theme& theme) : theme_(theme) {}

  /// Draws into rows [first, first + height) of the grid, titles in the first of them. `shift`:
  /// columns scrolled off to the left.
  void draw(Grid& grid, size_t first, size_t height, TableView& view, size_t shift);
  /// The place of a click at a grid row; nullopt if outside the table.
  [[nodiscard]] std::optional<TableView::Place> place_at(size_t row, TableView& view) const;

  /// The text of a place, as it is drawn.
  [[nodiscard]] static std::string line_text(TableView& view, const TableView::Place& place);

 private:
  /// Returns the number of lines.
  size_t draw_titles(Grid& grid, size_t row, const TableView& view, size_t shift) const;
  void draw_row(Grid& grid, size_t at, TableView& view, const TableView::Place& place, size_t shift,
                bool is_cursor) const;
  void draw_tree_line(Grid& grid, size_t at, TableView& view, const TableView::Place& place,
                      size_t shift, bool is_cursor) const;
  void put(Grid& grid, size_t row, size_t column, std::string_view text, const Style& style,
           size_t shift) const;

  const Theme& theme_;
  size_t first_ = 0, shown_ = 0;
};

}  // namespace sonde::tui
