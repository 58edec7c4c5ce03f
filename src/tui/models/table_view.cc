#include "tui/models/table_view.h"

#include <algorithm>

namespace sonde::tui {
namespace {

/// Trees that are kept although the user did not touch them.
constexpr size_t kKeptTrees = 1024;

/// The text of a row without its numbers; in a hierarchy, including the rows above it.
std::string row_name(const view::Table& table, uint32_t row) {
  std::string name;
  size_t cell = 0;
  for (const view::Column& column : table.columns) {
    if (column.kind == view::Column::Kind::kText) {
      name += table.text(row, cell);
      name += '\0';
    }
    cell += column.values;
  }
  if (table.hierarchy_levels == 0 || table.depth[row] == 0) return name;
  uint32_t above = row;
  while (above > 0 && table.depth[above] >= table.depth[row]) --above;
  return row_name(table, above) + name;
}

}  // namespace

TableView::TableView(const view::Table& table) : table_(&table), choice_(table) {}

TreeLines* TableView::tree_of(uint32_t row) {
  if (!table_->tree || table_->graph.style == view::GraphStyle::kNone) return nullptr;
  auto found = folds_.find(row);
  if (found == folds_.end()) {
    if (folds_.size() > kKeptTrees)
      std::erase_if(folds_, [](const auto& fold) { return !fold.second.touched; });
    auto tree = std::make_unique<TreeLines>(table_->tree(row), table_->graph);
    if (all_open_) tree->open_all(true);
    found = folds_.emplace(row, Fold{std::move(tree)}).first;
  }
  TreeLines* tree = found->second.tree.get();
  return tree->lines().empty() ? nullptr : tree;
}

std::string_view TableView::note_of(uint32_t row) const {
  auto found =
      std::ranges::lower_bound(table_->notes, row, {}, &std::pair<size_t, std::string>::first);
  return found != table_->notes.end() && found->first == row ? found->second : std::string_view();
}

bool TableView::tree_is_open(uint32_t row) const {
  auto found = open_.find(row);
  return found == open_.end() ? all_open_ : found->second;
}

size_t TableView::lines_of(size_t row) {
  uint32_t id = choice_.rows()[row];
  if (!note_of(id).empty()) return choice_.is_open(id) ? 2 : 1;
  if (choice_.has_below(id) || !tree_is_open(id)) return 1;
  TreeLines* tree = tree_of(id);
  return 1 + (tree == nullptr ? 0 : tree->lines().size());
}

const TreeLine* TableView::tree_line(const Place& place) {
  if (place.line == 0 || has_level(row_at(place))) return nullptr;
  TreeLines* tree = tree_of(row_at(place));
  if (tree == nullptr || place.line > tree->lines().size()) return nullptr;
  return &tree->lines()[place.line - 1];
}

// --- moving ---

bool TableView::next(Place& place) {
  if (place.line + 1 < lines_of(place.row)) {
    ++place.line;
    return true;
  }
  if (place.row + 1 >= choice_.rows().size()) return false;
  place = {place.row + 1, 0};
  return true;
}

bool TableView::previous(Place& place) {
  if (place.line > 0) {
    --place.line;
    return true;
  }
  if (place.row == 0) return false;
  --place.row;
  place.line = lines_of(place.row) - 1;
  return true;
}

void TableView::set_height(size_t lines) {
  height_ = std::max<size_t>(lines, 1);
  scroll_to_cursor();
}

void TableView::move(ptrdiff_t lines) {
  if (empty()) return;
  for (; lines > 0 && next(cursor_); --lines) {
  }
  for (; lines < 0 && previous(cursor_); ++lines) {
  }
  scroll_to_cursor();
}

void TableView::to(const Place& place) {
  if (empty()) return;
  cursor_.row = std::min(place.row, choice_.rows().size() - 1);
  cursor_.line = std::min(place.line, lines_of(cursor_.row) - 1);
  scroll_to_cursor();
}

void TableView::to_first() {
  to({});
}

void TableView::to_last() {
  if (empty()) return;
  size_t last = choice_.rows().size() - 1;
  to({last, lines_of(last) - 1});
}

void TableView::scroll_to_cursor() {
  if (empty()) return;
  if (cursor_ < top_) top_ = cursor_;
  // As far above the cursor as the screen allows.
  Place highest = cursor_;
  for (size_t i = 1; i < height_ && highest != top_ && previous(highest); ++i) {
  }
  if (top_ < highest) top_ = highest;
  if (top_.row >= choice_.rows().size() || top_.line >= lines_of(top_.row)) top_ = highest;
}

std::vector<TableView::Place> TableView::visible() {
  std::vector<Place> places;
  if (empty()) return places;
  Place place = top_;
  do places.push_back(place);
  while (places.size() < height_ && next(place));
  return places;
}

// --- unfolding ---

bool TableView::has_inside(size_t row) {
  uint32_t id = choice_.rows()[row];
  return has_level(id) || tree_of(id) != nullptr;
}

bool TableView::is_open(size_t row) {
  uint32_t id = choice_.rows()[row];
  return has_level(id) ? choice_.is_open(id) : tree_is_open(id);
}

bool TableView::toggle() {
  if (empty()) return false;
  uint32_t row = row_at(cursor_);
  if (has_level(row)) {
    cursor_.line = 0;
    choice_.set_open(row, !choice_.is_open(row));
    scroll_to_cursor();
    return true;
  }
  TreeLines* tree = tree_of(row);
  if (tree == nullptr) return false;
  folds_[row].touched = true;
  if (cursor_.line == 0) {
    open_[row] = !tree_is_open(row);
  } else {
    const TreeLine& line = tree->lines()[cursor_.line - 1];
    if (!line.can_open) return false;
    tree->toggle(cursor_.line - 1);
  }
  scroll_to_cursor();
  return true;
}

void TableView::open_row(bool whole) {
  if (empty()) return;
  uint32_t row = row_at(cursor_);
  if (has_level(row)) return choice_.set_open(row, true);
  TreeLines* tree = tree_of(row);
  if (tree == nullptr) return;
  folds_[row].touched = true;
  open_[row] = true;
  if (whole) tree->open_all(true);
}

void TableView::open_all(bool open) {
  keep_cursor([&] {
    all_open_ = open;
    open_.clear();
    folds_.clear();
    unfolded_.clear();
    open_rows_.clear();
    choice_.set_all_open(open);
  });
}

void TableView::open_hottest() {
  if (empty()) return;
  uint32_t row = row_at(cursor_);
  TreeLines* tree = has_level(row) ? nullptr : tree_of(row);
  if (tree == nullptr) return;
  folds_[row].touched = true;
  open_[row] = true;
  cursor_.line = 1 + tree->open_hottest();
  scroll_to_cursor();
}

// --- rows ---

template <typename Change>
void TableView::keep_cursor(const Change& change) {
  std::optional<uint32_t> row;
  if (!empty()) row = row_at(cursor_);
  change();
  Place wanted;
  // In a folded hierarchy, the nearest visible ancestor.
  for (; row; row = choice_.parent(*row))
    if (auto place = choice_.place_of(*row)) {
      wanted = {*place, 0};
      break;
    }
  cursor_ = top_ = {};
  to(wanted);
}

void TableView::filter(TextMatch match) {
  keep_cursor([&] { choice_.filter(std::move(match)); });
}

void TableView::limit(size_t rows) {
  keep_cursor([&] { choice_.limit(rows); });
}

void TableView::sort(std::optional<RowSelection::Sorting> sorting) {
  choice_.sort(sorting);
  cursor_ = top_ = {};
}

bool TableView::search(const TextMatch& match, ptrdiff_t step) {
  size_t count = choice_.rows().size();
  for (size_t i = 1; i <= count; ++i) {
    size_t row = step > 0 ? (cursor_.row + i) % count : (cursor_.row + count - i) % count;
    if (!matches(choice_.rows()[row], match)) continue;
    to({row, 0});
    return true;
  }
  return false;
}

// --- other tables ---

TableView::Standing TableView::leave() {
  Standing kept;
  if (empty()) return kept;
  kept.stays_first = cursor_ == Place{} && !is_open(0);
  kept.row = row_name(*table_, row_at(cursor_));
  kept.line = cursor_.line;
  if (cursor_.line > 0)
    if (TreeLines* tree = tree_of(row_at(cursor_))) kept.call = tree->path_of(cursor_.line - 1);
  for (Place place = top_; place != cursor_ && next(place);) ++kept.above;
  for (uint32_t row : choice_.rows())
    if (has_level(row)) open_rows_[row_name(*table_, row)] = choice_.is_open(row);
  for (auto [row, open] : open_) {
    Unfolded& now = unfolded_[row_name(*table_, row)];
    now.open = open;
    auto fold = folds_.find(row);
    if (fold != folds_.end() && fold->second.touched) now.calls = fold->second.tree->open_paths();
  }
  return kept;
}

void TableView::show(const view::Table& table, const Standing& kept) {
  table_ = &table;
  folds_.clear();
  open_.clear();
  cursor_ = top_ = {};
  choice_.show(table);
  std::unordered_map<std::string, uint32_t> rows;
  for (uint32_t row = 0; row < table.rows(); ++row) rows.try_emplace(row_name(table, row), row);
  std::vector<uint32_t> opened;
  for (const auto& [name, row] : rows)
    if (has_level(row)) {
      auto was = open_rows_.find(name);
      if (was == open_rows_.end() ? all_open_ : was->second) opened.push_back(row);
    }
  choice_.open(opened);
  for (const auto& [name, was] : unfolded_) reopen(rows, name, was);
  if (!kept.stays_first && !empty()) stand(rows, kept);
}

void TableView::reopen(const std::unordered_map<std::string, uint32_t>& rows,
                       const std::string& name, const Unfolded& was) {
  auto found = rows.find(name);
  if (found == rows.end()) return;
  open_[found->second] = was.open;
  TreeLines* tree = was.calls.empty() ? nullptr : tree_of(found->second);
  if (tree == nullptr) return;
  folds_[found->second].touched = true;
  tree->open_only(was.calls);
}

void TableView::stand(const std::unordered_map<std::string, uint32_t>& rows, const Standing& kept) {
  auto found = rows.find(kept.row);
  std::optional<size_t> place;
  if (found != rows.end()) place = choice_.place_of(found->second);
  if (!place) return;
  cursor_ = {*place, 0};
  if (TreeLines* tree =
          kept.line > 0 && tree_is_open(found->second) ? tree_of(found->second) : nullptr) {
    std::optional<size_t> line = tree->line_of(kept.call);
    cursor_.line = std::min(line ? *line + 1 : kept.line, tree->lines().size());
  }
  top_ = cursor_;
  for (size_t i = 0; i < kept.above && previous(top_); ++i) {
  }
  scroll_to_cursor();
}

}  // namespace sonde::tui
