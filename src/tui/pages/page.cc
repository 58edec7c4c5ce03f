#include "tui/pages/page.h"

namespace sonde::tui {

Pages::~Pages() {
  leaving_.clear();
  while (!pages_.empty()) pages_.pop_back();
}

void Pages::pop() {
  if (pages_.empty()) return;
  leaving_.push_back(std::move(pages_.back()));
  pages_.pop_back();
}

Grid Pages::draw(size_t rows, size_t columns) const {
  constexpr size_t kMinRows = 3, kMinColumns = 12;
  Grid grid(rows, columns);
  if (rows < kMinRows || columns < kMinColumns) {
    grid.put(0, 0, "too small", {});
    return grid;
  }
  size_t first = pages_.size();
  while (first > 0 && (first == pages_.size() || pages_[first]->is_overlay())) --first;
  for (size_t i = first; i < pages_.size(); ++i) pages_[i]->draw(grid);
  if (!message_.empty()) {
    Style style;
    style.bold = style.reverse = true;
    grid.fill(rows - 1, 0, columns, style);
    grid.put(rows - 1, 1, message_, style);
  }
  return grid;
}

void Pages::on_key(const Key& key) {
  message_.clear();
  if (key.is_control('c')) return quit();
  if (!pages_.empty()) pages_.back()->on_key(key, *this);
  bool is_another = !leaving_.empty();
  leaving_.clear();
  if (is_another) on_wake();
}

void Pages::on_wake() {
  if (!pages_.empty()) pages_.back()->on_wake(*this);
}

}  // namespace sonde::tui
