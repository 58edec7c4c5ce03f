#include "c2c/text_table.h"

namespace sonde::c2c {

void TextTable::write_titles(Sink& out) const {
  for (bool is_above : {true, false}) {
    out.put('#');
    const char* gap = " ";
    for (size_t i = 0; i < columns_.size();) {
      const TextColumn& column = columns_[i];
      out.print("{}{:>{}}", gap, is_above ? column.above : column.title, column.width);
      gap = "  ";
      i += is_above && column.spans > 1 ? column.spans : 1;
    }
    out.put('\n');
  }
  out.put('#');
  const char* gap = " ";
  for (const TextColumn& column : columns_) {
    out.print("{}{}", gap, std::string(column.width, '.'));
    gap = "  ";
  }
  out.write("\n#\n");
}

void TextTable::write_row(const std::vector<std::string>& cells, Sink& out) const {
  for (size_t i = 0; i < cells.size(); ++i) {
    const TextColumn& column = columns_[i];
    if (column.left)
      out.print("  {:<{}}", cells[i], column.width);
    else
      out.print("  {:>{}}", cells[i], column.width);
  }
  out.put('\n');
}

}  // namespace sonde::c2c
