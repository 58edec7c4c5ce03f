// UnitTable: the units of a file as DwarfFile reads them, in a form that can be kept on disk. A
// file that is opened with its table is not looked at until one of its units is: without one,
// opening it touches the beginning and the abbreviations of every unit.
//
//   std::vector<std::byte> bytes = UnitTable::pack(*file, stamp);
//   UnitTable table = *UnitTable::restore(bytes, stamp);
//   auto again = TRY(DwarfFile::open(std::move(elf), DwarfFile::Kind::kWhole, nullptr, &table));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "dwarf/dwarf_file.h"

namespace sonde {

class UnitTable {
 public:
  static constexpr uint32_t kPackedVersion = 1;

  /// Of a whole file; empty if a unit of it is damaged. `stamp` tells the file from others with its
  /// build id.
  [[nodiscard]] static std::vector<std::byte> pack(const DwarfFile& file, uint64_t stamp);
  /// Restores what pack() returned; the bytes must be aligned to 8, and outlive the files that are
  /// opened with the table. Nullopt if they are invalid or have another stamp.
  static std::optional<UnitTable> restore(Bytes packed, uint64_t stamp);

  /// The units of .debug_info and of .debug_types, in order, without their abbreviations. Nullopt
  /// if they do not fit into the file's sections.
  struct Units {
    std::vector<DwarfUnit> info, types;
  };
  [[nodiscard]] std::optional<Units> units_of(const DwarfFile& file) const;

 private:
  struct Packed;
  UnitTable() = default;

  std::span<const Packed> units_;
  std::span<const char> texts_;
};

}  // namespace sonde
