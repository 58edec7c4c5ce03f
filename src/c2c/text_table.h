// A table as `c2c report` prints it: two lines of titles, where a title may extend over several
// columns, and cells that are aligned to the columns' widths.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"

namespace sonde::c2c {

struct TextColumn {
  std::string above;  // first line of its title
  std::string title;  // second line
  size_t width;       // of titles, which are aligned to the right, and of cells
  size_t spans = 0;   // how many columns `above` extends over; 0: this one
  bool left = false;  // cells are aligned to the left
};

class TextTable {
 public:
  TextColumn& add(TextColumn column) { return columns_.emplace_back(std::move(column)); }
  [[nodiscard]] size_t size() const { return columns_.size(); }
  [[nodiscard]] TextColumn& operator[](size_t i) { return columns_[i]; }

  void write_titles(Sink& out) const;
  /// A cell per column; missing ones are left out.
  void write_row(const std::vector<std::string>& cells, Sink& out) const;

 private:
  std::vector<TextColumn> columns_;
};

}  // namespace sonde::c2c
