// AbbrevTable: the abbreviations of a unit: for each code the tag and the attributes with their
// forms (DWARF 5, section 7.5.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace sonde {

/// What the size of some forms depends on.
struct DwarfFormat {
  uint16_t version = 0;
  uint8_t address_size = 8;
  uint8_t offset_size = 4;  // 8 in 64-bit DWARF
  bool operator==(const DwarfFormat&) const = default;
};

struct AttributeSpec {
  uint16_t name = 0;  // DW_AT_*
  uint16_t form = 0;  // DW_FORM_*
  int64_t implicit = 0;
};

struct Abbrev {
  static constexpr uint32_t kVariable = UINT32_MAX;
  uint64_t code = 0;
  uint16_t tag = 0;
  bool has_children = false;
  uint32_t first_spec = 0;
  uint32_t spec_count = 0;
  uint32_t size = kVariable;  // of all values, if every form has a fixed size
};

class AbbrevTable {
 public:
  /// Reads to the table's end or the first invalid byte, and leaves `in` there.
  static AbbrevTable read(ByteCursor& in, DwarfFormat format);

  [[nodiscard]] const Abbrev* find(uint64_t code) const;
  [[nodiscard]] std::span<const Abbrev> all() const { return abbrevs_; }
  [[nodiscard]] std::span<const AttributeSpec> specs(const Abbrev& abbrev) const {
    return {specs_.data() + abbrev.first_spec, abbrev.spec_count};
  }

 private:
  std::vector<Abbrev> abbrevs_;  // by code
  std::vector<AttributeSpec> specs_;
};

/// The size of a value of this form; kVariable if the value's own bytes determine it.
[[nodiscard]] uint32_t fixed_form_size(uint16_t form, DwarfFormat format);

}  // namespace sonde
