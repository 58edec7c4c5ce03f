// What stands around the table of a browser, and its print on paper: shared by all that browse.
#pragma once

#include <string>
#include <string_view>

#include "tui/page.h"
#include "tui/table_view.h"

namespace sonde {

/// The first line: what the table is of, and at its right end, where there is room, from where.
void draw_bar(tui::Grid& grid, const tui::Theme& theme, std::string_view left,
              std::string_view right);

/// The last line: `path` says how one came here, followed by the filter; `hint` stands there where
/// both are empty. At the right end the cursor's place among the rows.
void draw_table_status(tui::Grid& grid, const tui::Theme& theme, const tui::TableView& view,
                       std::string_view path, std::string_view hint);

/// Writes what is seen, unfolded as it is, to the first free perf.hist.N of this directory, and
/// says so. `heading` are lines about it.
void print_table(tui::TableView& view, const std::vector<std::string>& heading, tui::Pages& pages);

}  // namespace sonde
