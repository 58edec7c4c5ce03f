// Types in debug information, as far as fetching a value needs them: what they are beneath aliases
// and qualifiers, their sizes, their members, and what perf calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dwarf/dwarf_file.h"
#include "probe/source/value_types.h"

namespace sonde {

/// The type without aliases (typedef) and qualifiers (const, volatile, …); null for void.
[[nodiscard]] DwarfEntry plain_type(DwarfEntry type);
/// What a pointer points to, an array consists of, an alias stands for; null for void.
[[nodiscard]] DwarfEntry target_type(DwarfEntry type);
[[nodiscard]] uint16_t tag_of(DwarfEntry entry);
[[nodiscard]] std::string_view name_of_type(DwarfEntry type);
[[nodiscard]] bool is_record(uint16_t tag);
[[nodiscard]] bool is_pointer(uint16_t tag);
/// In bytes; 0 if unknown.
[[nodiscard]] uint64_t size_of_type(DwarfEntry type);
/// Of a base type: DW_ATE_*; 0 for others.
[[nodiscard]] uint64_t encoding_of(DwarfEntry type);

struct FoundMember {
  DwarfEntry type;
  uint64_t offset = 0;  // in the record that was searched
  uint32_t bits = 0;    // of a bit field: its width, and where it begins in the record
  uint64_t first_bit = 0;
};
/// A member by its name, also in unnamed members and base classes.
[[nodiscard]] std::optional<FoundMember> find_member(DwarfEntry record, std::string_view name);

/// "struct node*", "long unsigned int", as perf's --vars prints it; empty if it has no name.
[[nodiscard]] std::string shown_type(DwarfEntry type);

/// The same as ValueTypes.
class DwarfValueTypes : public ValueTypes {
 public:
  [[nodiscard]] static ValueType of(DwarfEntry type) { return {type.unit, type.offset}; }
  [[nodiscard]] ValueType plain(ValueType type) const override;
  [[nodiscard]] ValueKind kind(ValueType type) const override;
  [[nodiscard]] ValueType target(ValueType type) const override;
  [[nodiscard]] uint64_t size(ValueType type) const override;
  [[nodiscard]] std::optional<ValueMember> member(ValueType record,
                                                  std::string_view name) const override;
  [[nodiscard]] bool is_declaration(ValueType record) const override;
  [[nodiscard]] std::string shown(ValueType type) const override;
};

}  // namespace sonde
