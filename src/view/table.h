// A table as plain data: columns, rows of numbers and texts, and call trees that are built per row
// on demand.
//
// Rows are stored, or made page by page while they are printed, so that a table of a hundred
// thousand rows is never in memory as a whole.
//
// Cells are stored row by row. If the table compares several events, each cell of a column has
// `values` numbers. Texts are spans of one buffer, so that a table of a hundred thousand rows takes
// a handful of allocations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "view/call_tree.h"

namespace sonde::view {

struct Column {
  enum class Kind : uint8_t {
    kPercent,
    kNumber,
    kText,
    kInterval,  // two percentages each: its ends
    kNotAvailable,
  };
  std::string name;   // stable, for programs: "overhead", "symbol"
  std::string title;  // for people
  Kind kind = Kind::kText;
  size_t width = 0;        // characters that the title and cells need
  size_t user_width = 0;   // set by the user (-w); 0: not set
  size_t value_width = 8;  // characters per number
  size_t values = 1;       // numbers per cell
  /// Of shares that break a row down: what each number of a cell is of ("Load", "Store"). They
  /// have a title line of their own, below the column's title.
  std::vector<std::string> parts;
  bool right_aligned = false;
  bool cuts = false;   // text longer than the column is truncated
  bool signs = false;  // percentages always show their sign
};

/// Characters of an interval: "  1.25 ..   3.40".
inline constexpr size_t kIntervalWidth = 16;

class Table {
 public:
  std::vector<Column> columns;
  /// Of a hierarchy: the number of levels. The last column is then the only text, and `depth` holds
  /// the level of each row.
  size_t hierarchy_levels = 0;
  std::vector<uint32_t> depth;
  /// Remarks, each below a row.
  std::vector<std::pair<size_t, std::string>> notes;
  /// Returns the tree of a row; empty if rows have none. May be called by several threads.
  std::function<CallTree(size_t row)> tree;
  bool has_large_trees = false;  // worth making in parallel
  GraphOptions graph;

  void add_number(uint64_t value) { cells_.push_back({.number = value}); }
  /// NaN leaves the cell blank.
  void add_percent(double value) { cells_.push_back({.percent = value}); }
  /// Ends a text that was appended to `text_buffer()`.
  std::string& text_buffer() { return texts_; }
  void add_text() {
    cells_.push_back({.text = {text_start_, static_cast<uint32_t>(texts_.size()) - text_start_}});
    text_start_ = static_cast<uint32_t>(texts_.size());
  }
  void end_row() { row_starts_.push_back(cells_.size()); }
  /// Appends the rows of a table with the same columns.
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

  /// Adds rows [first, end) to an empty table with the same columns. May be called by several
  /// threads.
  using MakePage = std::function<void(size_t first, size_t end, Table& page)>;
  /// Rows are not stored, but made by `make`.
  void make_rows_by(size_t rows, MakePage make) {
    made_rows_ = rows;
    make_page_ = std::move(make);
  }
  [[nodiscard]] bool makes_pages() const { return make_page_ != nullptr; }
  /// Rows [first, end) of a table that makes pages.
  [[nodiscard]] Table page(size_t first, size_t end) const {
    Table made;
    made.columns = columns;
    make_page_(first, end, made);
    return made;
  }

  [[nodiscard]] size_t rows() const { return makes_pages() ? made_rows_ : row_starts_.size() - 1; }
  // Cells of stored rows.
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
  size_t made_rows_ = 0;
  MakePage make_page_;
};

}  // namespace sonde::view
