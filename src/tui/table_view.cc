#include "tui/table_view.h"

#include <algorithm>

namespace sonde::tui {
namespace {

/// Trees that are kept though nobody touched them.
constexpr size_t kKeptTrees = 1024;

}  // namespace

TableView::TableView(const view::Table& table) : table_(table), choice_(table) {}

TreeFold* TableView::tree_of(uint32_t row) {
  if (!table_.tree || table_.graph.style == view::GraphStyle::kNone) return nullptr;
  auto found = folds_.find(row);
  if (found == folds_.end()) {
    if (folds_.size() > kKeptTrees)
      std::erase_if(folds_, [](const auto& fold) { return !fold.second.touched; });
    auto tree = std::make_unique<TreeFold>(table_.tree(row), table_.graph);
    if (all_open_) tree->open_all(true);
    found = folds_.emplace(row, Fold{std::move(tree)}).first;
  }
  TreeFold* tree = found->second.tree.get();
  return tree->lines().empty() ? nullptr : tree;
}

bool TableView::tree_is_open(uint32_t row) const {
  auto found = open_.find(row);
  return found == open_.end() ? all_open_ : found->second;
}

size_t TableView::lines_of(size_t row) {
  uint32_t id = choice_.rows()[row];
  if (choice_.has_below(id) || !tree_is_open(id)) return 1;
  TreeFold* tree = tree_of(id);
  return 1 + (tree == nullptr ? 0 : tree->lines().size());
}

const TreeLine* TableView::tree_line(const Place& place) {
  if (place.line == 0) return nullptr;
  TreeFold* tree = tree_of(row_at(place));
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
  // As far above the cursor as the screen reaches.
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
  return choice_.has_below(id) || tree_of(id) != nullptr;
}

bool TableView::is_open(size_t row) {
  uint32_t id = choice_.rows()[row];
  return choice_.has_below(id) ? choice_.is_open(id) : tree_is_open(id);
}

bool TableView::toggle() {
  if (empty()) return false;
  uint32_t row = row_at(cursor_);
  if (choice_.has_below(row)) {
    choice_.set_open(row, !choice_.is_open(row));
    scroll_to_cursor();
    return true;
  }
  TreeFold* tree = tree_of(row);
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
  if (choice_.has_below(row)) return choice_.set_open(row, true);
  TreeFold* tree = tree_of(row);
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
    choice_.set_all_open(open);
  });
}

void TableView::open_hottest() {
  if (empty()) return;
  uint32_t row = row_at(cursor_);
  TreeFold* tree = choice_.has_below(row) ? nullptr : tree_of(row);
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
  // In a folded hierarchy the nearest row above that is seen.
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

void TableView::sort(std::optional<RowChoice::Sorting> sorting) {
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

}  // namespace sonde::tui
