// Tables as text, in the format of `report --stdio`: two header lines (or three) prefixed with "#",
// then a line per row with its call tree below; or, with a separator (-t), as values for other
// programs.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"
#include "view/table.h"

namespace sonde::render {

struct TableTextOptions {
  std::string separator = {};  // between columns, instead of two blanks; empty: none
  bool header = true;
  bool color = false;
  bool quotes_formulas = false;  // with a separator (base/csv.h)
};

/// One row without the newline, for callers that lay out the lines of a table themselves. `starts`:
/// where the text of each column begins.
[[nodiscard]] std::string table_row_text(const view::Table& table, size_t row,
                                         const TableTextOptions& options,
                                         std::vector<size_t>& starts);
/// The line above the titles, including "#", if some columns have parts: what those are parts of.
/// Empty if there are none.
[[nodiscard]] std::string table_spanning_titles(const view::Table& table,
                                                const TableTextOptions& options);
/// The header line with the titles, including "#".
[[nodiscard]] std::string table_titles(const view::Table& table, const TableTextOptions& options);
/// The width of a column in characters.
[[nodiscard]] size_t column_width(const view::Column& column);

void write_table_header(Sink& out, const view::Table& table, const TableTextOptions& options);
void write_table(Sink& out, const view::Table& table, const TableTextOptions& options);

}  // namespace sonde::render
