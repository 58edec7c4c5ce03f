// LineTable: the rows of one unit's line program by address (DWARF 5, section 6.2).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde {

class LineTable {
 public:
  struct Row {
    uint64_t addr;
    uint32_t file;  // index into files_; kEnd for the end of a sequence
    uint32_t line;
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  /// Reads the unit's program; an empty table where it has none or it is damaged. File names are
  /// libdw's and live as long as its Dwarf.
  static LineTable read(Dwarf_Die& unit);

  /// The last row at or before `addr` in its sequence.
  [[nodiscard]] const Row* find(uint64_t addr) const;
  [[nodiscard]] std::string_view file(const Row& row) const { return files_[row.file]; }

 private:
  std::vector<Row> rows_;  // one per address, by address
  std::vector<std::string_view> files_;
};

}  // namespace sonde
