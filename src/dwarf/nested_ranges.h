// Flattens nested ranges: for each address the innermost one.
//
//   0 ............................ 0       boundaries:  0x10 → 0, 0x18 → 1, 0x20 → 2,
//        1 ............. 1                              0x24 → 1, 0x30 → 0, 0x50 → none
//             2 .. 2
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

struct NestedRange {
  uint64_t low, high;
  uint32_t id;  // inner ones have larger numbers than enclosing ones
};

struct RangeBoundary {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t addr;
  uint32_t id;  // of the range from here on
  uint32_t reserved = 0;
};

/// Sorted by address. A range that extends beyond its enclosing range is truncated.
std::vector<RangeBoundary> flatten(std::vector<NestedRange> ranges);

}  // namespace sonde
