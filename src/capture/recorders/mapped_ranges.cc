#include "capture/recorders/mapped_ranges.h"

#include <iterator>

namespace sonde {

void MappedRanges::add(uint64_t start, uint64_t end, uint32_t object) {
  if (end <= start) return;
  auto at = ranges_.lower_bound(start);
  if (at != ranges_.begin()) {
    auto& [before_start, before] = *std::prev(at);
    if (before.end > end) ranges_.emplace_hint(at, end, Range(before));  // it was cut in two
    if (before.end > start) before.end = start;
  }
  for (at = ranges_.lower_bound(start); at != ranges_.end() && at->first < end;) {
    if (at->second.end > end) {
      ranges_.emplace_hint(std::next(at), end, Range(at->second));
      ranges_.erase(at);
      break;
    }
    at = ranges_.erase(at);
  }
  ranges_.emplace(start, Range{end, object});
}

std::optional<uint32_t> MappedRanges::find(uint64_t begin, uint64_t end) const {
  auto after = ranges_.lower_bound(end);
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = std::prev(after)->second;
  return range.end > begin ? std::optional(range.object) : std::nullopt;
}

}  // namespace sonde
