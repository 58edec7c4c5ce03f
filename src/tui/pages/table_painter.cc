#include "tui/pages/table_painter.h"

#include <fmt/format.h>

#include "render/table_text.h"
#include "tui/terminal/glyphs.h"

namespace sonde::tui {
namespace {

constexpr size_t kGap = 2;          // between columns
constexpr size_t kLevelIndent = 2;  // of trees
constexpr size_t kTreeMargin = 4;

char sign(bool inside, bool open) {
  return !inside ? ' ' : open ? '-' : '+';
}

std::string tree_text(const TreeLine& line, char mark) {
  std::string text(kTreeMargin + line.depth * kLevelIndent, ' ');
  text += line.label > 0 ? ' ' : mark;
  text += ' ';
  if (!line.value.empty()) text += fmt::format("{} ", line.value);
  text += line.text;
  return text;
}

/// Indented below the names of the level that it belongs to.
std::string note_text(const TableView& view, const TableView::Place& place,
                      const std::vector<size_t>& starts) {
  std::string text(starts.empty() ? kTreeMargin : starts.back() + kLevelIndent, ' ');
  return text.append(view.note(place));
}

}  // namespace

std::string TablePainter::line_text(TableView& view, const TableView::Place& place) {
  if (const TreeLine* line = view.tree_line(place))
    return tree_text(*line, sign(line->can_open, line->is_open));
  std::vector<size_t> starts;
  std::string text = render::table_row_text(view.table(), view.row_at(place), {}, starts);
  if (place.line > 0) return note_text(view, place, starts);
  text[0] = sign(view.has_inside(place.row), view.is_open(place.row));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void TablePainter::put(Grid& grid, size_t row, size_t column, std::string_view text,
                       const Style& style, size_t shift) const {
  while (!text.empty() && column < shift)
    column += static_cast<size_t>(width_of(take_character(text)));
  if (!text.empty()) grid.put(row, column - shift, text, style);
}

size_t TablePainter::draw_titles(Grid& grid, size_t row, const TableView& view,
                                 size_t shift) const {
  size_t lines = 0;
  for (std::string titles :
       {render::table_spanning_titles(view.table(), {}), render::table_titles(view.table(), {})}) {
    if (titles.empty()) continue;
    titles[0] = ' ';
    grid.fill(row + lines, 0, grid.columns(), theme_.titles);
    put(grid, row + lines++, 0, titles, theme_.titles, shift);
  }
  row += lines - 1;
  if (!view.choice().sorting() || view.table().hierarchy_levels != 0) return lines;
  // An arrow in the gap before the column.
  size_t column = 0;
  for (size_t i = 0; i < view.choice().sorting()->column; ++i)
    column += kGap + render::column_width(view.table().columns[i]);
  put(grid, row, column + 1, view.choice().sorting()->reversed ? "↑" : "↓", theme_.match, shift);
  return lines;
}

void TablePainter::draw_row(Grid& grid, size_t at, TableView& view, const TableView::Place& place,
                            size_t shift, bool is_cursor) const {
  const view::Table& table = view.table();
  uint32_t row = view.row_at(place);
  std::vector<size_t> starts;
  std::string text = render::table_row_text(table, row, {}, starts);
  const Style& base = is_cursor ? theme_.cursor : theme_.plain;
  char mark = sign(view.has_inside(place.row), view.is_open(place.row));
  size_t indent = starts.empty() ? 0 : starts[0] - kGap;  // of a hierarchy's level
  put(grid, at, indent, std::string_view(&mark, 1), base, shift);
  size_t column = starts.empty() ? 0 : starts[0], cell = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const view::Column& shown = table.columns[i];
    size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
    std::string_view part = std::string_view(text).substr(starts[i], end - starts[i]);
    if (table.hierarchy_levels != 0) column = starts[i];  // only numbers before it
    Style style = base;
    if (!is_cursor && shown.kind == view::Column::Kind::kPercent)
      style = theme_.of_percent(table.percent(row, cell));
    put(grid, at, column, part.substr(0, part.find_last_not_of(' ') + 1), style, shift);
    if (shown.kind == view::Column::Kind::kText)
      for (auto [from, to] : view.choice().match().places(part)) {
        size_t left = column + columns_of(part.substr(0, from));
        Style found = style;
        found.bold = found.underline = true;
        if (!is_cursor) found.foreground = theme_.match.foreground;
        put(grid, at, left, part.substr(from, to - from), found, shift);
      }
    column += kGap + render::column_width(shown);
    cell += shown.values;
  }
}

void TablePainter::draw_tree_line(Grid& grid, size_t at, TableView& view,
                                  const TableView::Place& place, size_t shift,
                                  bool is_cursor) const {
  const TreeLine* line = view.tree_line(place);
  if (line == nullptr)
    return put(grid, at, 0, line_text(view, place), is_cursor ? theme_.cursor : theme_.note, shift);
  const Style& base = is_cursor ? theme_.cursor : theme_.plain;
  size_t column = kTreeMargin + line->depth * kLevelIndent;
  char mark = sign(line->can_open, line->is_open);
  if (line->label == 0) put(grid, at, column, std::string_view(&mark, 1), base, shift);
  column += 2;
  if (!line->value.empty()) {
    put(grid, at, column, line->value, is_cursor ? base : theme_.of_percent(*line->percent), shift);
    column += line->value.size() + 1;
  }
  put(grid, at, column, line->text, base, shift);
}

void TablePainter::draw(Grid& grid, size_t first, size_t height, TableView& view, size_t shift) {
  size_t titles = draw_titles(grid, first, view, shift);
  first_ = first + titles;
  view.set_height(height > titles ? height - titles : 1);
  size_t at = first_;
  for (const TableView::Place& place : view.visible()) {
    if (at >= first + height) break;
    bool is_cursor = place == view.cursor();
    if (is_cursor) grid.fill(at, 0, grid.columns(), theme_.cursor);
    if (place.line == 0)
      draw_row(grid, at, view, place, shift, is_cursor);
    else
      draw_tree_line(grid, at, view, place, shift, is_cursor);
    ++at;
  }
  shown_ = at - first_;
}

std::optional<TableView::Place> TablePainter::place_at(size_t row, TableView& view) const {
  if (row < first_ || row >= first_ + shown_) return std::nullopt;
  std::vector<TableView::Place> places = view.visible();
  if (row - first_ >= places.size()) return std::nullopt;
  return places[row - first_];
}

}  // namespace sonde::tui
