// The frame around a browser's table, and printing the table to a file: shared by all browsers.
#pragma once

#include <string>
#include <string_view>

#include "tui/models/table_view.h"
#include "tui/pages/page.h"

namespace sonde {

/// The first line: what the table shows and, at the right if there is room, where it is from.
void draw_bar(tui::Grid& grid, const tui::Theme& theme, std::string_view left,
              std::string_view right);

/// The last line: `path` says how the user got here, followed by the filter; `hint` is shown if
/// both are empty. At the right, the cursor's position among the rows.
void draw_table_status(tui::Grid& grid, const tui::Theme& theme, const tui::TableView& view,
                       std::string_view path, std::string_view hint);

/// Writes what is visible, as unfolded as it is, to the first free perf.hist.N of the current
/// directory, and says so. `heading` are lines about it.
void print_table(tui::TableView& view, const std::vector<std::string>& heading, tui::Pages& pages);

}  // namespace sonde
