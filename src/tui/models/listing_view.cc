#include "tui/models/listing_view.h"

#include <algorithm>

namespace sonde::tui {

using view::ListingFlow;
using view::ListingKind;

ListingView::ListingView(const view::Listing& listing, view::ListingPercent percent)
    : listing_(listing), percent_(percent) {
  choose();
  rank();
}

double ListingView::percent(size_t line, size_t event) const {
  return listing_.percent(listing_.hits_of(line)[event], event, percent_);
}

void ListingView::choose() {
  lines_.clear();
  for (size_t i = 0; i < listing_.lines.size(); ++i)
    if (source_ || listing_.lines[i].kind != ListingKind::kSource) lines_.push_back(i);
}

/// With several events, the largest percentage decides.
void ListingView::rank() {
  hot_.clear();
  std::vector<double> most(listing_.lines.size(), 0);
  for (size_t i = 0; i < listing_.lines.size(); ++i) {
    for (size_t event = 0; event < listing_.events.size(); ++event)
      most[i] = std::max(most[i], percent(i, event));
    if (most[i] > 0) hot_.push_back(i);
  }
  std::ranges::stable_sort(hot_, std::greater<>(), [&](size_t line) { return most[line]; });
  hot_at_.reset();
}

void ListingView::set_height(size_t lines) {
  height_ = std::max<size_t>(lines, 1);
  // No empty space at the end.
  top_ = std::min(top_, lines_.size() > height_ ? lines_.size() - height_ : 0);
  to(cursor_);
}

void ListingView::to(size_t place) {
  if (lines_.empty()) return;
  cursor_ = std::min(place, lines_.size() - 1);
  if (cursor_ < top_) top_ = cursor_;
  if (cursor_ >= top_ + height_) top_ = cursor_ + 1 - height_;
}

void ListingView::move(ptrdiff_t lines) {
  if (lines < 0)
    to(cursor_ - std::min(cursor_, static_cast<size_t>(-lines)));
  else
    to(cursor_ + static_cast<size_t>(lines));
}

/// Puts the cursor on a line of the listing, with some context lines around it.
void ListingView::keep_line(size_t line) {
  auto place = std::ranges::lower_bound(lines_, line);
  to(static_cast<size_t>(place - lines_.begin()));
  size_t half = height_ / 2;
  bool is_at_edge = cursor_ == top_ || cursor_ + 1 == top_ + height_;
  if (is_at_edge) top_ = cursor_ > half ? cursor_ - half : 0;
}

std::optional<size_t> ListingView::jump_of(size_t place) const {
  if (place >= lines_.size()) return std::nullopt;
  const view::ListingLine& line = listing_.lines[lines_[place]];
  if (line.flow != ListingFlow::kJump || !line.target) return std::nullopt;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const view::ListingLine& other = listing_.lines[lines_[i]];
    if (other.kind == ListingKind::kInstruction && other.address == *line.target) return i;
  }
  return std::nullopt;
}

bool ListingView::follow() {
  auto target = jump_of(cursor_);
  if (!target) return false;
  came_from_.push_back(lines_[cursor_]);
  keep_line(lines_[*target]);
  return true;
}

bool ListingView::back() {
  if (came_from_.empty()) return false;
  keep_line(came_from_.back());
  came_from_.pop_back();
  return true;
}

bool ListingView::to_hot(ptrdiff_t step) {
  if (hot_.empty()) return false;
  size_t count = hot_.size();
  hot_at_ = !hot_at_ ? 0 : step > 0 ? (*hot_at_ + 1) % count : (*hot_at_ + count - 1) % count;
  keep_line(hot_[*hot_at_]);
  return true;
}

void ListingView::show_source(bool shown) {
  size_t line = lines_.empty() ? 0 : lines_[cursor_];
  source_ = shown;
  choose();
  keep_line(line);
}

void ListingView::next_percent_type() {
  using enum view::ListingPercent;
  percent_ = percent_ == kLocalPeriod    ? kLocalHits
             : percent_ == kLocalHits    ? kGlobalPeriod
             : percent_ == kGlobalPeriod ? kGlobalHits
                                         : kLocalPeriod;
  rank();
}

bool ListingView::search(const TextMatch& match, ptrdiff_t step) {
  size_t count = lines_.size();
  for (size_t i = 1; i <= count; ++i) {
    size_t place = step > 0 ? (cursor_ + i) % count : (cursor_ + count - i) % count;
    const view::ListingLine& line = listing_.lines[lines_[place]];
    if (!match.matches(line.text) && !match.matches(line.target_name)) continue;
    keep_line(lines_[place]);
    return true;
  }
  return false;
}

}  // namespace sonde::tui
