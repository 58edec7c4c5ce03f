// What pages with a cursor have in common: the keys that move it, and the last row of those that
// show lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tui/terminal/grid.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/style.h"

namespace sonde::tui {

/// False if `key` is none of these. `View` has move(lines), page(pages), to_first() and to_last().
/// `shift`: columns of the text scrolled off to the left.
template <typename View>
bool move_by_key(const Key& key, View& view, size_t& shift) {
  constexpr size_t kShiftColumns = 8;
  constexpr ptrdiff_t kWheelLines = 3;
  switch (key.kind) {
    case Key::Kind::kUp:
      view.move(-1);
      return true;
    case Key::Kind::kDown:
      view.move(1);
      return true;
    case Key::Kind::kWheelUp:
      view.move(-kWheelLines);
      return true;
    case Key::Kind::kWheelDown:
      view.move(kWheelLines);
      return true;
    case Key::Kind::kPageUp:
      view.page(-1);
      return true;
    case Key::Kind::kPageDown:
      view.page(1);
      return true;
    case Key::Kind::kHome:
      view.to_first();
      return true;
    case Key::Kind::kEnd:
      view.to_last();
      return true;
    case Key::Kind::kRight:
      shift += kShiftColumns;
      return true;
    case Key::Kind::kLeft:
      shift -= std::min(shift, kShiftColumns);
      return true;
    default:
      if (key.is(' ')) view.page(1);
      return key.is(' ');
  }
}

/// The same, plus mouse clicks: `View` has to(place) and top(), and starts at the screen's
/// `first_row`.
template <typename View>
bool move_in_lines(const Key& key, View& view, size_t first_row, size_t& shift) {
  if (key.kind != Key::Kind::kPress) return move_by_key(key, view, shift);
  if (key.row >= first_row) view.to(view.top() + key.row - first_row);
  return true;
}

/// Draws the most important keys, as far as there is room, and the cursor's position.
void draw_foot(Grid& grid, const Theme& theme, std::string_view keys, size_t cursor, size_t lines);

}  // namespace sonde::tui
