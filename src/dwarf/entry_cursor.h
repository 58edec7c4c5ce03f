// EntryCursor: iterates over the entries of a unit, with their attributes; for readers that look at
// few of them. Code that scans whole units for one attribute has its own loop.
//
//   EntryCursor in(unit, unit.entries);
//   while (in.next()) {                    // false at the end of a list of children, too
//     if (in.tag() == DW_TAG_namespace) …  // its children are read from in.behind() on
//     in.skip_children();
//   }
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

class EntryCursor {
 public:
  /// `offset` is that of an entry in .debug_info.
  EntryCursor(const DwarfUnit& unit, uint64_t offset);
  explicit EntryCursor(DwarfEntry entry) : EntryCursor(*entry.unit, entry.offset) {}

  /// Reads the next entry. False if there is none: at the end of a list, or after invalid data.
  bool next();
  /// The abbreviation of the entry that next() would read; null if there is none.
  [[nodiscard]] const Abbrev* peek() const;
  /// Skips that entry with its children, without decoding it.
  void skip_next();
  /// Skips the children of the current entry.
  void skip_children();

  [[nodiscard]] uint16_t tag() const { return tag_; }
  [[nodiscard]] bool has_children() const { return has_children_; }
  [[nodiscard]] DwarfEntry entry() const { return {unit_, offset_}; }
  /// Where its first child is, or else its next sibling.
  [[nodiscard]] uint64_t behind() const { return behind_; }
  /// An attribute of the current entry; without a form if it is absent.
  [[nodiscard]] DwarfValue value(uint16_t name) const;
  [[nodiscard]] std::string_view text(uint16_t name) const { return text_of(*unit_, value(name)); }
  [[nodiscard]] DwarfEntry reference(uint16_t name) const { return entry_of(*unit_, value(name)); }
  /// A number in any form that holds one; nullopt if it is an expression, or absent.
  [[nodiscard]] std::optional<uint64_t> number(uint16_t name) const;
  /// True unless a list of children ended early.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const DwarfUnit& unit() const { return *unit_; }

 private:
  void skip_list();

  const DwarfUnit* unit_;
  ByteCursor in_;
  uint64_t offset_ = 0, behind_ = 0;
  uint16_t tag_ = 0;
  bool has_children_ = false;
  bool ok_ = true;
  std::vector<std::pair<uint16_t, DwarfValue>> values_;
};

/// Whether an entry can be read there.
[[nodiscard]] inline bool is_readable(DwarfEntry entry) {
  return entry.unit != nullptr && entry.unit->abbrevs != nullptr;
}

}  // namespace sonde
