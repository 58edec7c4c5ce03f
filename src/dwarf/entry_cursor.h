// EntryCursor: the entries of a unit, one after the other, with their attributes; for readers that
// look at few of them. What goes through whole units and wants one attribute has loops of its own.
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
  /// `offset` is that of an entry, in .debug_info.
  EntryCursor(const DwarfUnit& unit, uint64_t offset);
  explicit EntryCursor(DwarfEntry entry) : EntryCursor(*entry.unit, entry.offset) {}

  /// Reads the entry that stands here. False where none does: at a list's end, behind what makes no
  /// sense.
  bool next();
  /// Goes behind the children of the entry that was read.
  void skip_children();

  [[nodiscard]] uint16_t tag() const { return tag_; }
  [[nodiscard]] bool has_children() const { return has_children_; }
  [[nodiscard]] DwarfEntry entry() const { return {unit_, offset_}; }
  /// Where its first child stands, or what follows it.
  [[nodiscard]] uint64_t behind() const { return behind_; }
  /// Of the entry that was read; one without a form where it has no such attribute.
  [[nodiscard]] DwarfValue value(uint16_t name) const;
  [[nodiscard]] std::string_view text(uint16_t name) const { return text_of(*unit_, value(name)); }
  [[nodiscard]] DwarfEntry reference(uint16_t name) const { return entry_of(*unit_, value(name)); }
  /// Numbers in any form that holds one; nothing where it is an expression, or not there.
  [[nodiscard]] std::optional<uint64_t> number(uint16_t name) const;
  /// No list of children has ended early.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const DwarfUnit& unit() const { return *unit_; }

 private:
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
