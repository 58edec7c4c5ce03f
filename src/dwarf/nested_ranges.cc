#include "dwarf/nested_ranges.h"

#include <algorithm>
#include <tuple>

namespace sonde {

std::vector<RangeBoundary> flatten(std::vector<NestedRange> ranges) {
  std::ranges::sort(ranges, [](const NestedRange& a, const NestedRange& b) {
    return std::tie(a.low, a.id) < std::tie(b.low, b.id);
  });
  std::vector<RangeBoundary> boundaries;
  boundaries.reserve(ranges.size() * 2);
  std::vector<NestedRange> open;  // each inside the previous one
  auto mark = [&](uint64_t addr, uint32_t id) {
    if (!boundaries.empty() && boundaries.back().addr == addr) boundaries.pop_back();
    if (!boundaries.empty() && boundaries.back().id == id) return;
    boundaries.push_back({addr, id});
  };
  auto close_until = [&](uint64_t addr) {
    while (!open.empty() && open.back().high <= addr) {
      uint64_t end = open.back().high;
      open.pop_back();
      mark(end, open.empty() ? RangeBoundary::kNone : open.back().id);
    }
  };
  for (NestedRange range : ranges) {
    close_until(range.low);
    if (!open.empty()) range.high = std::min(range.high, open.back().high);
    mark(range.low, range.id);
    open.push_back(range);
  }
  close_until(UINT64_MAX);
  return boundaries;
}

}  // namespace sonde
