// The keys that every table has: moving, unfolding, sorting, searching and filtering.
#pragma once

#include <string>
#include <vector>

#include "tui/page.h"
#include "tui/prompt.h"
#include "tui/table_painter.h"
#include "tui/table_view.h"

namespace sonde::tui {

/// What a table's screen keeps while tables come and go under it.
struct TableScreen {
  explicit TableScreen(const Theme& used) : theme(used), painter(used) {}
  const Theme& theme;
  TablePainter painter;
  size_t shift = 0;  // columns scrolled away to the left
  TextMatch wanted;  // what n and N look for
};

/// False where the key means nothing to a table.
bool table_key(const Key& key, TableView& view, TableScreen& screen, Pages& pages);
/// Lines for a page of help.
[[nodiscard]] std::vector<std::string> table_key_help();

}  // namespace sonde::tui
