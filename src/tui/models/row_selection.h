// RowSelection: which rows of a table are visible, and in which order: filtered, sorted by a
// column, levels of a hierarchy folded. The table itself is not modified, and nothing is
// recomputed.
//
//   RowSelection choice(table);
//   choice.filter(TRY(TextMatch::make("malloc", TextMatch::Kind::kPiece)));
//   for (uint32_t row : choice.rows()) …
#pragma once

#include <optional>
#include <vector>

#include "tui/models/text_match.h"
#include "view/table.h"

namespace sonde::tui {

class RowSelection {
 public:
  explicit RowSelection(const view::Table& table);
  /// Switches to another table of the same kind: filter and order stay, its levels are folded.
  void show(const view::Table& table);

  /// Keeps the rows that match in any text; in a hierarchy also their ancestors and descendants.
  void filter(TextMatch match);
  [[nodiscard]] const TextMatch& match() const { return match_; }
  /// The number of rows that match themselves.
  [[nodiscard]] size_t matches() const { return matches_; }

  /// Whether any text of a row matches.
  [[nodiscard]] bool row_matches(uint32_t row, const TextMatch& match) const;

  struct Sorting {
    size_t column = 0;
    bool reversed = false;  // lightest first, or reverse alphabetical
    bool operator==(const Sorting&) const = default;
  };
  /// By a column: numbers heaviest first, texts alphabetically; nullopt: the table's own order.
  void sort(std::optional<Sorting> sorting);
  [[nodiscard]] const std::optional<Sorting>& sorting() const { return sorting_; }

  /// Limits the number of visible rows: the first ones.
  void limit(size_t rows);

  // For hierarchies.
  [[nodiscard]] bool has_below(uint32_t row) const;
  [[nodiscard]] bool is_open(uint32_t row) const { return open_[row] != 0; }
  void set_open(uint32_t row, bool open);
  void set_all_open(bool open);
  void open(const std::vector<uint32_t>& rows);
  [[nodiscard]] std::optional<uint32_t> parent(uint32_t row) const;

  /// The visible rows of the table, in display order.
  [[nodiscard]] const std::vector<uint32_t>& rows() const { return rows_; }
  /// The position at which a row of the table is visible.
  [[nodiscard]] std::optional<size_t> place_of(uint32_t row) const;

 private:
  void choose();
  void order_level(size_t begin, size_t end);
  [[nodiscard]] bool stands_before(uint32_t a, uint32_t b) const;
  [[nodiscard]] uint32_t depth(uint32_t row) const {
    return table_->hierarchy_levels == 0 ? 0 : table_->depth[row];
  }
  /// One past the last descendant.
  [[nodiscard]] size_t end_of(size_t row) const;

  const view::Table* table_;
  TextMatch match_;
  size_t matches_ = 0;
  std::optional<Sorting> sorting_;
  std::vector<uint8_t> kept_;  // by row: whether it passes the filter
  std::vector<uint8_t> open_;  // by row
  std::vector<uint32_t> rows_;
  size_t limit_ = SIZE_MAX;
};

/// The index of a column's first value among a row's cells.
[[nodiscard]] size_t first_cell(const view::Table& table, size_t column);

}  // namespace sonde::tui
