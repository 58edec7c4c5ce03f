#include "tui/pages/menu.h"

#include <algorithm>

#include "tui/terminal/glyphs.h"

namespace sonde::tui {

void Menu::draw(Grid& grid) {
  size_t width = columns_of(title_) + 4;
  for (const Item& item : items_) width = std::max(width, columns_of(item.text) + 2);
  width = std::min(width, grid.columns() - 2);
  shown_ = std::min(items_.size(), grid.rows() - 2);
  if (chosen_ < top_) top_ = chosen_;
  if (chosen_ >= top_ + shown_) top_ = chosen_ + 1 - shown_;
  size_t row = (grid.rows() - shown_ - 2) / 2, column = (grid.columns() - width - 2) / 2;
  auto edge = [&](size_t at, std::string_view left, std::string_view right) {
    grid.fill(at, column, width + 2, theme_.plain);
    size_t next = grid.put(at, column, left, theme_.frame);
    while (next < column + width + 1) next = grid.put(at, next, "─", theme_.frame);
    grid.put(at, next, right, theme_.frame);
  };
  edge(row, "┌", "┐");
  grid.put(row, column + 2, " " + title_ + " ", theme_.titles, width - 2);
  first_row_ = row + 1;
  for (size_t i = 0; i < shown_; ++i) {
    const Style& style = top_ + i == chosen_ ? theme_.cursor : theme_.plain;
    grid.put(first_row_ + i, column, "│", theme_.frame);
    grid.fill(first_row_ + i, column + 1, width, style);
    grid.put(first_row_ + i, column + 2, items_[top_ + i].text, style, width - 2);
    grid.put(first_row_ + i, column + width + 1, "│", theme_.frame);
  }
  edge(first_row_ + shown_, "└", "┘");
}

void Menu::choose(Pages& pages) {
  pages.pop();
  if (chosen_ < items_.size()) items_[chosen_].choose(pages);
}

void Menu::on_key(const Key& key, Pages& pages) {
  size_t last = items_.empty() ? 0 : items_.size() - 1;
  switch (key.kind) {
    case Key::Kind::kUp:
    case Key::Kind::kWheelUp:
      chosen_ -= chosen_ > 0 ? 1 : 0;
      return;
    case Key::Kind::kDown:
    case Key::Kind::kWheelDown:
      chosen_ = std::min(chosen_ + 1, last);
      return;
    case Key::Kind::kPageUp:
    case Key::Kind::kHome:
      chosen_ = 0;
      return;
    case Key::Kind::kPageDown:
    case Key::Kind::kEnd:
      chosen_ = last;
      return;
    case Key::Kind::kEnter:
    case Key::Kind::kRight:
      return choose(pages);
    case Key::Kind::kPress:
      if (key.row >= first_row_ && key.row < first_row_ + shown_) {
        chosen_ = top_ + key.row - first_row_;
        return choose(pages);
      }
      return pages.pop();
    case Key::Kind::kEscape:
    case Key::Kind::kLeft:
      return pages.pop();
    default:
      if (key.is('q')) return pages.pop();
      if (key.is('j')) chosen_ = std::min(chosen_ + 1, last);
      if (key.is('k')) chosen_ -= chosen_ > 0 ? 1 : 0;
  }
}

}  // namespace sonde::tui
