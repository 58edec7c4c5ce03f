// The code ranges of a unit, a function or an inlined function: DW_AT_low_pc with DW_AT_high_pc, or
// a list in .debug_ranges (DWARF 4, section 2.17.3) or .debug_rnglists (DWARF 5, section 7.25).
#pragma once

#include <cstdint>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

struct CodeRange {
  uint64_t low = 0, high = 0;  // high is exclusive
};

/// Appends the ranges that DW_AT_ranges lists, until `out` has `limit` elements. Skips empty ones
/// and those of functions that the linker discarded.
void read_ranges(const DwarfUnit& unit, const DwarfValue& ranges, size_t limit,
                 std::vector<CodeRange>& out);

/// Appends the code ranges that an entry gives with those of these three attributes that are
/// present.
void read_code(const DwarfUnit& unit, const DwarfValue& low, const DwarfValue& high,
               const DwarfValue& ranges, size_t limit, std::vector<CodeRange>& out);
/// The same for a unit, as far as its root entry says.
void read_unit_code(const DwarfUnit& unit, size_t limit, std::vector<CodeRange>& out);

/// Whether code can be there: linkers write 0, or one of the last addresses, for discarded
/// functions.
[[nodiscard]] inline bool is_code(const CodeRange& range) {
  return range.low != 0 && range.low < range.high && range.low < UINT64_MAX - 0x1000;
}

}  // namespace sonde
