// What pages that show lines with a cursor have in common: keys that move it, and their last row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tui/grid.h"
#include "tui/keys.h"
#include "tui/style.h"

namespace sonde::tui {

/// False: `key` is none of these. `View` has move(lines), page(pages), to(place) and top(); it
/// starts at the screen's `first_row`. `shift`: columns of the text that are left of the screen.
template <typename View>
bool move_by_key(const Key& key, View& view, size_t first_row, size_t& shift) {
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
      view.to(0);
      return true;
    case Key::Kind::kEnd:
      view.to(SIZE_MAX);
      return true;
    case Key::Kind::kRight:
      shift += kShiftColumns;
      return true;
    case Key::Kind::kLeft:
      shift -= std::min(shift, kShiftColumns);
      return true;
    case Key::Kind::kPress:
      if (key.row >= first_row) view.to(view.top() + key.row - first_row);
      return true;
    default:
      if (key.is(' ')) view.page(1);
      return key.is(' ');
  }
}

/// The keys that matter most, as far as there is room, and where the cursor is.
void draw_foot(Grid& grid, const Theme& theme, std::string_view keys, size_t cursor, size_t lines);

}  // namespace sonde::tui
