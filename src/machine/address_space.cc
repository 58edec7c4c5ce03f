#include "machine/address_space.h"

#include <algorithm>
#include <utility>

namespace sonde {

void AddressSpace::map(uint64_t time, RuntimeAddr start, RuntimeAddr end, MappingId mapping) {
  if (start >= end) return;
  cut(time, start, end);
  current_[start] = {end, time, mapping};
}

void AddressSpace::map_around(uint64_t time, RuntimeAddr start, RuntimeAddr end, MappingId mapping,
                              const std::function<bool(MappingId)>& keeps) {
  auto at = current_.upper_bound(start);
  if (at != current_.begin() && std::prev(at)->second.end > start) --at;
  std::vector<std::pair<RuntimeAddr, RuntimeAddr>> gaps;
  for (; at != current_.end() && at->first < end; ++at) {
    if (!keeps(at->second.mapping)) continue;
    if (start < at->first) gaps.emplace_back(start, at->first);
    start = std::max(start, at->second.end);
  }
  if (start < end) gaps.emplace_back(start, end);
  for (auto [from, to] : gaps) map(time, from, to, mapping);
}

void AddressSpace::unmap(uint64_t time, RuntimeAddr start, RuntimeAddr end) {
  if (start < end) cut(time, start, end);
}

/// Removes [start, end) from the current pieces; the removed parts become history, the rest stays.
void AddressSpace::cut(uint64_t time, RuntimeAddr start, RuntimeAddr end) {
  changed_ = true;
  auto at = current_.upper_bound(start);
  if (at != current_.begin() && std::prev(at)->second.end > start) --at;
  while (at != current_.end() && at->first < end) {
    RuntimeAddr piece_start = at->first;
    Current piece = at->second;
    at = current_.erase(at);
    if (piece.since < time)
      history_.push_back({std::max(piece_start, start), std::min(piece.end, end), piece.since, time,
                          piece.mapping});
    if (piece_start < start) current_[piece_start] = {start, piece.since, piece.mapping};
    if (piece.end > end) current_[end] = {piece.end, piece.since, piece.mapping};
  }
}

AddressSpace AddressSpace::current(uint64_t time) const {
  AddressSpace copy;
  copy.current_ = current_;
  for (auto& [start, piece] : copy.current_) piece.since = time;
  return copy;
}

void AddressSpace::freeze() {
  if (!std::exchange(changed_, false)) return;
  frozen_ = history_;
  for (const auto& [start, piece] : current_)
    frozen_.push_back({start, piece.end, piece.since, UINT64_MAX, piece.mapping});
  std::stable_sort(frozen_.begin(), frozen_.end(),
                   [](const Piece& a, const Piece& b) { return a.start < b.start; });
  reach_.clear();
  reach_.reserve(frozen_.size());
  RuntimeAddr reach;
  for (const Piece& piece : frozen_) {
    reach = std::max(reach, piece.end);
    reach_.push_back(reach);
  }
}

void AddressSpace::forget_before(uint64_t time) {
  if (std::erase_if(history_, [time](const Piece& piece) { return piece.to <= time; }) > 0)
    changed_ = true;
}

AddressSpace::Found AddressSpace::find(RuntimeAddr address, uint64_t time) const {
  auto above = std::upper_bound(frozen_.begin(), frozen_.end(), address,
                                [](RuntimeAddr a, const Piece& piece) { return a < piece.start; });
  Found found;
  auto below = static_cast<size_t>(above - frozen_.begin());
  RuntimeAddr reach = below > 0 ? reach_[below - 1] : RuntimeAddr();
  if (reach <= address) {
    found.start = reach;
    found.end = above != frozen_.end() ? above->start : RuntimeAddr(UINT64_MAX);
    return found;
  }
  // Pieces that begin at one address follow one another in time: memory that is mapped anew again
  // and again has very many. The nearest ones bound how long "nothing" is valid.
  for (size_t end = below; end > 0 && reach_[end - 1] > address;) {
    auto last = frozen_.begin() + static_cast<ptrdiff_t>(end);
    auto first =
        std::lower_bound(frozen_.begin(), last, std::prev(last)->start,
                         [](const Piece& piece, RuntimeAddr a) { return piece.start < a; });
    auto later = std::upper_bound(first, last, time,
                                  [](uint64_t t, const Piece& piece) { return t < piece.from; });
    if (later != last) found.valid_to = std::min(found.valid_to, later->from);
    if (later != first) {
      const Piece& piece = *std::prev(later);
      bool is_there = time < piece.to;
      if (is_there && address < piece.end)
        return {piece.mapping, piece.from, piece.to, piece.start, piece.end};
      if (is_there) found.valid_to = std::min(found.valid_to, piece.to);
      found.valid_from = std::max(found.valid_from, is_there ? piece.from : piece.to);
    }
    end = static_cast<size_t>(first - frozen_.begin());
  }
  return found;
}

std::vector<AddressSpace::Piece> AddressSpace::pieces() const {
  return frozen_;
}

}  // namespace sonde
