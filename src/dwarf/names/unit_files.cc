#include "dwarf/names/unit_files.h"

#include <algorithm>

#include "dwarf/dwarf_ranges.h"
#include "dwarf/supplement.h"

namespace sonde {

Result<UnitFiles> UnitFiles::read(ElfFile file, const DwarfLocations& places) {
  constexpr size_t kMostRanges = size_t{1} << 20;  // of a unit
  UnitFiles files;
  auto supplement = find_supplement(file, places);
  files.file_ =
      TRY(DwarfFile::open(std::move(file), DwarfFile::Kind::kWhole, std::move(supplement)));
  std::vector<CodeRange> ranges;
  for (const DwarfUnit& unit : files.file_->units()) {
    if (unit.name.empty()) continue;
    ranges.clear();
    read_unit_code(unit, kMostRanges, ranges);
    for (const CodeRange& range : ranges)
      if (is_code(range)) files.parts_.push_back({range.low, range.high, unit.name});
  }
  std::ranges::stable_sort(files.parts_, {}, &Part::low);
  return files;
}

std::string_view UnitFiles::at(ElfAddr address) const {
  auto next = std::ranges::upper_bound(parts_, address.value, {}, &Part::low);
  if (next == parts_.begin() || address.value >= std::prev(next)->high) return {};
  return std::prev(next)->name;
}

}  // namespace sonde
