// LineTable: the lines of one unit by address, as arrays that can be stored in a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/line_program.h"
#include "dwarf/packed_table.h"
#include "dwarf/source_file.h"

namespace sonde {

class LineTable {
 public:
  struct Row {
    uint64_t addr;
    uint32_t file;  // index into files; kEnd after a sequence
    uint32_t line;
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  LineTable() = default;
  /// Runs the unit's program; an empty table if it has none.
  static LineTable read(const DwarfUnit& unit);
  /// A view of the `bytes` of another table. The bytes must stay alive and be aligned to 8; an
  /// empty table if they are invalid.
  static LineTable view(Bytes bytes);
  [[nodiscard]] Bytes bytes() const { return own_; }

  /// The last row at or before `addr` in its sequence.
  [[nodiscard]] const Row* find(uint64_t addr) const;
  [[nodiscard]] SourceFile file(const Row& row) const;
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }

 private:
  std::vector<std::byte> own_;
  std::span<const Row> rows_;  // one per address, by address
  std::span<const PackedFile> files_;
  std::span<const char> strings_;
};

}  // namespace sonde
