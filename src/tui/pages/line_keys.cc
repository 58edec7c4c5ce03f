#include "tui/pages/line_keys.h"

#include <fmt/format.h>

namespace sonde::tui {

void draw_foot(Grid& grid, const Theme& theme, std::string_view keys, size_t cursor, size_t lines) {
  std::string place = fmt::format("{}/{}", cursor + 1, lines);
  size_t room = grid.columns() > place.size() + 3 ? grid.columns() - place.size() - 3 : 0;
  grid.put(grid.rows() - 1, 1, keys, theme.dim, room);
  grid.put(grid.rows() - 1, grid.columns() - std::min(grid.columns(), place.size() + 1), place,
           theme.dim);
}

}  // namespace sonde::tui
