#include "export/recordings/bolt.h"

#include <optional>

namespace sonde {

uint64_t write_bolt(Sink& out, const BranchProfile::Object& object, const SegmentMap& segments) {
  uint64_t left_out = 0;
  auto address = [&](uint64_t offset) { return segments.addr_of(FileOffset(offset)); };
  for (const BranchProfile::Pair& branch : object.branches) {
    std::optional<ElfAddr> from = address(branch.from), to;
    if (branch.to != 0) to = address(branch.to);
    if (!from || (branch.to != 0 && !to)) {
      ++left_out;
      continue;
    }
    out.print("B {:x} {} {} {}\n", from->value, to ? fmt::format("{:x}", to->value) : "X:0",
              branch.count, branch.mispredicted);
  }
  for (const BranchProfile::Pair& range : object.ranges) {
    std::optional<ElfAddr> first = address(range.from), last = address(range.to);
    if (first && last)
      out.print("F {:x} {:x} {}\n", first->value, last->value, range.count);
    else
      ++left_out;
  }
  return left_out;
}

}  // namespace sonde
