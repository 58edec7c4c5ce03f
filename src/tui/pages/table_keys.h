// The keys that all tables share: moving, unfolding, sorting, searching and filtering.
#pragma once

#include <string>
#include <vector>

#include "tui/models/table_view.h"
#include "tui/pages/page.h"
#include "tui/pages/prompt.h"
#include "tui/pages/table_painter.h"

namespace sonde::tui {

/// The screen state that persists while the tables on it change.
struct TableScreen {
  explicit TableScreen(const Theme& used) : theme(used), painter(used) {}
  const Theme& theme;
  TablePainter painter;
  size_t shift = 0;  // columns scrolled away to the left
  TextMatch wanted;  // what n and N look for
};

/// False if the key means nothing to a table.
bool table_key(const Key& key, TableView& view, TableScreen& screen, Pages& pages);
/// Lines for a help page.
[[nodiscard]] std::vector<std::string> table_key_help();

}  // namespace sonde::tui
