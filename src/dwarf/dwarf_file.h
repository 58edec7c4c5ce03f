// DwarfFile: the debug information of one file as it stands there: its sections, the list of its
// units, and the values of attributes (DWARF 2 to 5, 32- and 64-bit; split units).
//
//   .debug_info   ┌ unit: header, then a tree of entries ──────────────┐┌ unit …
//                 │ code 17 ─► .debug_abbrev: tag, attribute, form …   ││
//                 │ the values, one after the other, by their forms    ││
//                 └────────────────────────────────────────────────────┘└
//
// Everything is untrusted: offsets are checked where they are followed, references that go in a
// circle end, and what many units share is read once. Relocatable files are read as if they were
// linked (elf/relocatable.h). Units that are not split are read to the end
// of their first entry by `open`, on all cores; after it all is constant. Units of a split file are
// made complete one by one, by who has the unit that they were split from.
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

/// An attribute as it stands there; what it means is asked of the unit it belongs to.
struct DwarfValue {
  uint16_t form = 0;  // 0: not there
  uint64_t number = 0;
  Bytes bytes;  // of DW_FORM_string and blocks
  explicit operator bool() const { return form != 0; }
};

/// One unit: its header, and what its first entry says for all of it.
struct DwarfUnit {
  const DwarfFile* file = nullptr;
  DwarfSection section = DwarfSection::kInfo;  // kTypes: a type's unit before DWARF 5
  uint64_t offset = 0;                         // of the header in its section
  uint64_t entries = 0;
  uint64_t end = 0;
  DwarfFormat format;
  uint8_t type = 0;  // DW_UT_*; 0 before DWARF 5
  uint64_t abbrev_offset = 0;
  std::optional<uint64_t> dwo_id;
  /// Of a type's unit: the name that others call the type by, and the offset of its entry in the
  /// unit (DWARF 5, section 7.32).
  std::optional<uint64_t> signature;
  uint64_t type_offset = 0;

  // from the first entry
  uint16_t tag = 0;
  uint64_t low_pc = 0;
  std::optional<uint64_t> line_offset;
  std::optional<uint64_t> str_offsets_base, addr_base, rnglists_base, loclists_base;
  uint64_t ranges_base = 0;  // of split units before DWARF 5
  std::string_view name, directory, dwo_name;
  DwarfValue ranges;  // the list of its code, where it is not one piece
  std::optional<uint64_t> high_pc;
  const AbbrevTable* abbrevs = nullptr;

  // where a package (.dwp) has this unit's share of its sections
  uint64_t line_share = 0, str_offsets_share = 0, rnglists_share = 0, loclists_share = 0;
  /// The unit in the program that this one was split from; it has the addresses.
  const DwarfUnit* skeleton = nullptr;
};

/// An entry of a unit; the offset is in the unit's section.
struct DwarfEntry {
  const DwarfUnit* unit = nullptr;
  uint64_t offset = 0;
};

class DwarfFile {
 public:
  enum class Kind : uint8_t { kWhole, kSplit };  // kSplit: .dwo or .dwp

  /// kNotFound where the file has no .debug_info.
  static Result<std::unique_ptr<DwarfFile>> open(ElfFile elf, Kind kind,
                                                 std::unique_ptr<DwarfFile> supplement = nullptr);

  [[nodiscard]] Bytes section(DwarfSection which) const {
    return sections_[static_cast<size_t>(which)];
  }
  [[nodiscard]] ByteOrder order() const { return elf_.order(); }
  [[nodiscard]] const ElfFile& elf() const { return elf_; }
  [[nodiscard]] std::vector<DwarfUnit>& units() { return units_; }
  [[nodiscard]] const DwarfUnit* unit_at(uint64_t info_offset) const;
  /// The type that has a unit of its own, by its signature; nowhere where there is none.
  [[nodiscard]] DwarfEntry type_with(uint64_t signature) const;
  /// What dwz moved out of several files into one; null where there is none.
  [[nodiscard]] const DwarfFile* supplement() const { return supplement_.get(); }

  /// Fills in what the unit's first entry says; one without `abbrevs` makes no sense. Of a split
  /// unit `skeleton` must be known.
  void read_root(DwarfUnit& unit) const;
  /// The same of all units of types.
  void read_type_roots();
  [[nodiscard]] std::string_view string_at(DwarfSection section, uint64_t offset) const;

 private:
  DwarfFile(ElfFile elf, Kind kind) : elf_(std::move(elf)), kind_(kind) {}
  void load_sections();
  void load_section(size_t which, const std::string& suffix, const RelocatableFile* relocatable);
  void read_units();
  void read_headers(DwarfSection section, std::vector<DwarfUnit>& units);
  [[nodiscard]] const AbbrevTable* abbrevs_of(const DwarfUnit& unit) const;
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
  mutable uint64_t abbrev_bytes_read_ = 0;
};

/// Reads the value of one attribute and goes on behind it.
DwarfValue read_value(ByteCursor& in, const AttributeSpec& spec, DwarfFormat format);

/// Goes behind the values of an entry.
void skip_values(ByteCursor& in, const DwarfUnit& unit, const Abbrev& abbrev);

/// What values mean; absent, empty or nothing where they make no sense.
[[nodiscard]] std::optional<uint64_t> address_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] std::string_view text_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] DwarfEntry entry_of(const DwarfUnit& unit, const DwarfValue& value);
[[nodiscard]] bool is_address_form(uint16_t form);

}  // namespace sonde
