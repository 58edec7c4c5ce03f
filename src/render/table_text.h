// Tables as text, as `report --stdio` prints them: two header lines behind "#", then a line per row
// with its call tree below it; or with a separator (-t) as values for other programs.
#pragma once

#include "base/sink.h"
#include "view/table.h"

namespace sonde::render {

struct TableTextOptions {
  std::string separator = {};  // between columns, instead of two blanks; empty: none
  bool header = true;
  bool color = false;
};

void write_table_header(Sink& out, const view::Table& table, const TableTextOptions& options);
void write_table(Sink& out, const view::Table& table, const TableTextOptions& options);

}  // namespace sonde::render
