// FunctionIndex: which units of a file have functions of a given name, or copies of them, without
// looking through all of its debug information.
//
//   FunctionIndex index = FunctionIndex::read(file);      reads every entry once, on all cores
//   index.may_name(unit, "deposit")                       then a binary search
//
// It has the names of each unit's functions that have code, of those that were inlined and of their
// copies: as DW_AT_name and DW_AT_linkage_name have them, and without template arguments; but not
// mangled ones, which are long, many, and not what people look for. Of each
// name it has only a hash, so a unit may be selected that has none of that name; one that has is
// never left out. A unit whose entries are in another file is always selected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "dwarf/dwarf_file.h"

namespace sonde {

class FunctionIndex {
 public:
  static FunctionIndex read(const DwarfFile& file);

  /// Restores what pack() returned; the bytes must stay alive and be aligned to 8. Nullopt if they
  /// are invalid or were made of another file.
  static std::optional<FunctionIndex> restore(Bytes packed, const DwarfFile& file);
  [[nodiscard]] std::vector<std::byte> pack(const DwarfFile& file) const;
  static constexpr uint32_t kPackedVersion = 1;

  /// The same as may_name() for one unit, of which all entries are read.
  [[nodiscard]] static bool may_name(const DwarfUnit& unit, std::string_view name);

  FunctionIndex(FunctionIndex&&) noexcept = default;
  FunctionIndex& operator=(FunctionIndex&&) noexcept = default;

  /// Whether the index knows names of that kind.
  [[nodiscard]] static bool has_names_like(std::string_view name) {
    return !name.starts_with("_Z") && !name.starts_with("_R");
  }
  /// Of a name of that kind. `unit` is an index into DwarfFile::units(). A function `f<int>` has
  /// the names "f<int>" and "f".
  [[nodiscard]] bool may_name(size_t unit, std::string_view name) const;

 private:
  FunctionIndex() = default;

  std::vector<uint32_t> own_starts_, own_hashes_;
  // By unit where its hashes start, with the end of the last one; those of a unit are sorted.
  std::span<const uint32_t> starts_, hashes_;
};

}  // namespace sonde
