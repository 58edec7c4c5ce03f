#include "tui/models/row_selection.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::tui {

using view::Column;

size_t first_cell(const view::Table& table, size_t column) {
  size_t cell = 0;
  for (size_t i = 0; i < column; ++i) cell += table.columns[i].values;
  return cell;
}

RowSelection::RowSelection(const view::Table& table)
    : table_(&table), kept_(table.rows(), 1), open_(table.rows(), 0) {
  matches_ = table.rows();
  choose();
}

bool RowSelection::row_matches(uint32_t row, const TextMatch& match) const {
  size_t cell = 0;
  for (const Column& column : table_->columns) {
    if (column.kind == Column::Kind::kText && match.matches(table_->text(row, cell))) return true;
    cell += column.values;
  }
  return false;
}

size_t RowSelection::end_of(size_t row) const {
  size_t end = row + 1;
  while (table_->hierarchy_levels != 0 && end < table_->rows() &&
         table_->depth[end] > table_->depth[row])
    ++end;
  return end;
}

void RowSelection::filter(TextMatch match) {
  // What matches a longer string also matched its prefix.
  bool narrows = match.kind() == TextMatch::Kind::kPiece && table_->hierarchy_levels == 0 &&
                 match_.kind() == TextMatch::Kind::kPiece && !match_.matches_all() &&
                 match.pattern().starts_with(match_.pattern());
  match_ = std::move(match);
  std::vector<uint8_t> had = narrows ? kept_ : std::vector<uint8_t>();
  matches_ = 0;
  if (!narrows) kept_.assign(table_->rows(), match_.matches_all() ? 1 : 0);
  for (uint32_t row = 0; row < table_->rows(); ++row) {
    if (narrows && had[row] == 0) continue;
    bool found = row_matches(row, match_);
    matches_ += found ? 1 : 0;
    if (narrows) kept_[row] = found ? 1 : 0;
    if (narrows || !found || match_.matches_all()) continue;
    std::fill(kept_.begin() + row, kept_.begin() + static_cast<ptrdiff_t>(end_of(row)), 1);
    for (auto above = parent(row); above; above = parent(*above)) {
      kept_[*above] = 1;
      open_[*above] = 1;
    }
  }
  choose();
}

std::optional<uint32_t> RowSelection::parent(uint32_t row) const {
  uint32_t own = depth(row);
  if (own == 0) return std::nullopt;
  while (row-- > 0)
    if (depth(row) < own) return row;
  return std::nullopt;
}

bool RowSelection::has_below(uint32_t row) const {
  return table_->hierarchy_levels != 0 && row + 1 < table_->rows() &&
         table_->depth[row + 1] > table_->depth[row];
}

void RowSelection::set_open(uint32_t row, bool open) {
  open_[row] = open ? 1 : 0;
  if (has_below(row)) choose();
}

void RowSelection::set_all_open(bool open) {
  open_.assign(table_->rows(), open ? 1 : 0);
  if (table_->hierarchy_levels != 0) choose();
}

void RowSelection::open(const std::vector<uint32_t>& rows) {
  for (uint32_t row : rows) open_[row] = 1;
  if (!rows.empty()) choose();
}

void RowSelection::show(const view::Table& table) {
  table_ = &table;
  open_.assign(table.rows(), 0);
  kept_.clear();
  if (sorting_ && sorting_->column >= table.columns.size()) sorting_.reset();
  TextMatch match = std::exchange(match_, {});
  filter(std::move(match));
}

void RowSelection::limit(size_t rows) {
  limit_ = rows;
  choose();
}

void RowSelection::sort(std::optional<Sorting> sorting) {
  sorting_ = sorting;
  choose();
}

bool RowSelection::stands_before(uint32_t a, uint32_t b) const {
  const Column& column = table_->columns[sorting_->column];
  size_t cell = first_cell(*table_, sorting_->column);
  if (sorting_->reversed) std::swap(a, b);
  switch (column.kind) {
    case Column::Kind::kPercent:
    case Column::Kind::kInterval:
      return table_->percent(a, cell) > table_->percent(b, cell);
    case Column::Kind::kNumber:
      return table_->number(a, cell) > table_->number(b, cell);
    case Column::Kind::kText:
      return table_->text(a, cell) < table_->text(b, cell);
    case Column::Kind::kNotAvailable:
      return false;
  }
  return false;
}

/// The rows of one level in [begin, end) of the table, each followed by its descendants.
void RowSelection::order_level(size_t begin, size_t end) {
  std::vector<uint32_t> level;
  for (size_t row = begin; row < end; row = end_of(row))
    if (kept_[row] != 0) level.push_back(static_cast<uint32_t>(row));
  if (sorting_)
    std::ranges::stable_sort(level, [&](uint32_t a, uint32_t b) { return stands_before(a, b); });
  for (uint32_t row : level) {
    rows_.push_back(row);
    if (is_open(row) && has_below(row)) order_level(row + 1, end_of(row));
  }
}

void RowSelection::choose() {
  rows_.clear();
  rows_.reserve(table_->rows());
  order_level(0, table_->rows());
  if (rows_.size() > limit_) rows_.resize(limit_);
}

std::optional<size_t> RowSelection::place_of(uint32_t row) const {
  auto found = std::ranges::find(rows_, row);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<size_t>(found - rows_.begin());
}

}  // namespace sonde::tui
