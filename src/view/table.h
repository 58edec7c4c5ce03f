// A table as plain data: columns, rows of numbers and texts, and call trees that rows produce when
// they are asked.
//
// Cells stand row after row. A column whose table compares several events has `values` numbers in
// each cell. Texts are spans of one buffer, so that a table of a hundred thousand rows is a handful
// of allocations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "view/call_tree.h"

namespace sonde::view {

struct Column {
  enum class Kind : uint8_t { kPercent, kNumber, kText, kNotAvailable };
  std::string name;   // stable, for machines: "overhead", "symbol"
  std::string title;  // for people
  Kind kind = Kind::kText;
  size_t width = 0;        // characters that title and cells need
  size_t user_width = 0;   // set by the user (-w); 0: not set
  size_t value_width = 8;  // characters of each number
  size_t values = 1;       // numbers per cell
  bool right_aligned = false;
  bool cuts = false;   // text longer than the column is cut
  bool signs = false;  // percentages have their sign, also the positive ones
};

class Table {
 public:
  std::vector<Column> columns;
  /// Of a hierarchy: how many levels its rows have. Then the last column is the only text, and
  /// `depth` tells the level of each row.
  size_t hierarchy_levels = 0;
  std::vector<uint32_t> depth;
  /// Remarks, each below a row.
  std::vector<std::pair<size_t, std::string>> notes;
  /// The tree of a row; empty where rows have none.
  std::function<CallTree(size_t row)> tree;
  GraphOptions graph;

  void add_number(uint64_t value) { cells_.push_back({.number = value}); }
  /// Not a number: the cell stays blank.
  void add_percent(double value) { cells_.push_back({.percent = value}); }
  /// Closes a text that was appended to `text_buffer()`.
  std::string& text_buffer() { return texts_; }
  void add_text() {
    cells_.push_back({.text = {text_start_, static_cast<uint32_t>(texts_.size()) - text_start_}});
    text_start_ = static_cast<uint32_t>(texts_.size());
  }
  void end_row() { row_starts_.push_back(cells_.size()); }
  /// Adds the rows of a table whose cells are those of `columns`, one after the other.
  void append_rows(const Table& more) {
    size_t cell = cells_.size();
    cells_.insert(cells_.end(), more.cells_.begin(), more.cells_.end());
    for (size_t row = 0; row < more.rows(); ++row) {
      for (const Column& column : columns) {
        if (column.kind == Column::Kind::kText) cells_[cell].text.start += text_start_;
        cell += column.values;
      }
      row_starts_.push_back(cell);
    }
    texts_ += more.texts_;
    text_start_ = static_cast<uint32_t>(texts_.size());
  }

  [[nodiscard]] size_t rows() const { return row_starts_.size() - 1; }
  /// `cell` counts values, not columns.
  [[nodiscard]] uint64_t number(size_t row, size_t cell) const { return at(row, cell).number; }
  [[nodiscard]] double percent(size_t row, size_t cell) const { return at(row, cell).percent; }
  [[nodiscard]] std::string_view text(size_t row, size_t cell) const {
    auto span = at(row, cell).text;
    return std::string_view(texts_).substr(span.start, span.size);
  }

 private:
  struct Span {
    uint32_t start, size;
  };
  union Cell {
    uint64_t number;
    double percent;
    Span text;
  };
  [[nodiscard]] const Cell& at(size_t row, size_t cell) const {
    return cells_[row_starts_[row] + cell];
  }
  std::vector<Cell> cells_;
  std::vector<size_t> row_starts_{0};
  std::string texts_;
  uint32_t text_start_ = 0;
};

}  // namespace sonde::view
