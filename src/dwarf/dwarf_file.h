// DwarfFile: the debug information of one file, undecoded: its sections, its list of units, and its
// attribute values (DWARF 2 to 5, 32- and 64-bit; split units).
//
//   .debug_info   ┌ unit: header, then a tree of entries ──────────────┐┌ unit …
//                 │ code 17 ─► .debug_abbrev: tag, attribute, form …   ││
//                 │ the values, one after the other, by their forms    ││
//                 └────────────────────────────────────────────────────┘└
//
// Everything is untrusted: offsets are checked when followed, reference cycles end, and what many
// units share is read once. Relocatable files are read as if they were linked (elf/relocatable.h).
// `open` reads units that are not split up to the end of their first entry, on all cores, unless a
// UnitTable has them; after that, everything is immutable. The units of a split file are completed
// one at a time, by the holder of their skeleton.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "dwarf/dwarf_abbrevs.h"
#include "elf/elf_file.h"

namespace sonde {

class RelocatableFile;
class UnitTable;

enum class DwarfSection : uint8_t {
  kInfo,
  kAbbrev,
  kLine,
  kStr,
  kLineStr,
  kStrOffsets,
  kAddr,
  kRanges,
  kRnglists,
  kLoc,
  kLoclists,
  kTypes,
  kCount,
};

class DwarfFile;

/// An attribute's raw value; its meaning depends on the unit it belongs to.
struct DwarfValue {
  uint16_t form = 0;  // 0: absent
  uint64_t number = 0;
  Bytes bytes;  // of DW_FORM_string and blocks
  explicit operator bool() const { return form != 0; }
};

/// One unit: its header, and what its root entry says for all of it.
struct DwarfUnit {
  const DwarfFile* file = nullptr;
  DwarfSection section = DwarfSection::kInfo;  // kTypes: a type unit before DWARF 5
  uint64_t offset = 0;                         // of the header in its section
  uint64_t entries = 0;
  uint64_t end = 0;
  DwarfFormat format;
  uint8_t type = 0;  // DW_UT_*; 0 before DWARF 5
  uint64_t abbrev_offset = 0;
  std::optional<uint64_t> dwo_id;
  /// Of a type unit: the signature by which others refer to the type, and the offset of its entry
  /// in the unit (DWARF 5, section 7.32).
  std::optional<uint64_t> signature;
  uint64_t type_offset = 0;

  // from the first entry
  uint16_t tag = 0;
  uint64_t low_pc = 0;
  std::optional<uint64_t> line_offset;
  std::optional<uint64_t> str_offsets_base, addr_base, rnglists_base, loclists_base;
  uint64_t ranges_base = 0;  // of split units before DWARF 5
  std::string_view name, directory, dwo_name;
  DwarfValue ranges;  // the list of its code, if it is not contiguous
  std::optional<uint64_t> high_pc;
  const AbbrevTable* abbrevs = nullptr;

  // offsets of this unit's contributions to the sections of a package (.dwp)
  uint64_t line_share = 0, str_offsets_share = 0, rnglists_share = 0, loclists_share = 0;
  /// The unit in the program from which this one was split; it has the addresses.
  const DwarfUnit* skeleton = nullptr;
};

/// An entry of a unit; the offset is into the unit's section.
struct DwarfEntry {
  const DwarfUnit* unit = nullptr;
  uint64_t offset = 0;
};

class DwarfFile {
 public:
  enum class Kind : uint8_t { kWhole, kSplit };  // kSplit: .dwo or .dwp

  /// Fails with kNotFound if the file has no .debug_info. `known` are the units of a whole file, if
  /// they were kept.
  static Result<std::unique_ptr<DwarfFile>> open(ElfFile elf, Kind kind,
                                                 std::unique_ptr<DwarfFile> supplement = nullptr,
                                                 const UnitTable* known = nullptr);

  [[nodiscard]] Bytes section(DwarfSection which) const {
    return sections_[static_cast<size_t>(which)];
  }
  [[nodiscard]] ByteOrder order() const { return elf_.order(); }
  [[nodiscard]] const ElfFile& elf() const { return elf_; }
  [[nodiscard]] std::vector<DwarfUnit>& units() { return units_; }
  [[nodiscard]] const std::vector<DwarfUnit>& units() const { return units_; }
  /// Those of .debug_types.
  [[nodiscard]] const std::vector<DwarfUnit>& type_units() const { return types_; }
  [[nodiscard]] const DwarfUnit* unit_at(uint64_t info_offset) const;
  /// The type with this signature, which has a unit of its own; a null entry if there is none.
  [[nodiscard]] DwarfEntry type_with(uint64_t signature) const;
  /// What dwz moved out of several files into one; null if there is none.
  [[nodiscard]] const DwarfFile* supplement() const { return supplement_.get(); }

  /// Fills in what the unit's root entry says; `abbrevs` stays null if the unit is invalid. A split
  /// unit must have its `skeleton` set.
  void read_root(DwarfUnit& unit) const;
  /// The same for all type units of a split file.
  void read_type_roots();
  [[nodiscard]] std::string_view string_at(DwarfSection section, uint64_t offset) const;

 private:
  DwarfFile(ElfFile elf, Kind kind) : elf_(std::move(elf)), kind_(kind) {}
  void load_sections();
  void load_section(size_t which, const std::string& suffix, const RelocatableFile* relocatable);
  void read_units();
  /// False if they are not this file's.
  bool take_units(const UnitTable& known);
  void note_signatures();
  void read_roots(std::vector<DwarfUnit>& units);
  void read_headers(DwarfSection section, std::vector<DwarfUnit>& units);
  struct UnitAbbrevs {
    const AbbrevTable* table = nullptr;
    bool is_shared = false;  // another unit has the same
  };
  [[nodiscard]] UnitAbbrevs abbrevs_of(const DwarfUnit& unit) const;
  struct PackageIndex;
  void read_package_index(const PackageIndex& index);

  ElfFile elf_;
  Kind kind_;
  std::array<Bytes, static_cast<size_t>(DwarfSection::kCount)> sections_;
  std::array<std::vector<std::byte>, static_cast<size_t>(DwarfSection::kCount)> expanded_;
  std::vector<DwarfUnit> units_;  // by offset
  std::vector<DwarfUnit> types_;  // of .debug_types, likewise
  std::vector<std::pair<uint64_t, DwarfUnit*>> signatures_;
  std::unique_ptr<DwarfFile> supplement_;

  mutable std::mutex mutex_;
  mutable std::map<std::pair<uint64_t, uint32_t>, std::unique_ptr<AbbrevTable>> abbrevs_;
  mutable AbbrevTable::Budget abbrev_budget_;
};

/// Reads one attribute's value and moves past it.
DwarfValue read_value(ByteCursor& in, const AttributeSpec& spec, DwarfFormat format);

/// Moves past an entry's values.
void skip_values(ByteCursor& in, const DwarfUnit& unit, const Abbrev& abbrev);

/// Interpret values; nullopt, empty or null if they are invalid.
[[nodiscard]] std::optional<uint64_t> address_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] std::string_view text_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] DwarfEntry entry_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] bool is_address_form(uint16_t form);

}  // namespace sonde
