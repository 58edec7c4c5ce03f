// ValueTypes: the types of values, as far as fetching them needs: implemented for DWARF
// (DwarfValueTypes) and for BTF (KernelTypes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

/// A type of one ValueTypes; default-constructed: void.
struct ValueType {
  const void* owner = nullptr;
  uint64_t number = 0;
};

enum class ValueKind : uint8_t {
  kSigned,
  kUnsigned,  // bool, too
  kFloat,
  kEnum,
  kPointer,
  kReference,
  kArray,
  kRecord,  // struct, union, class
  kOther,   // void, functions
};

struct ValueMember {
  ValueType type;
  uint64_t offset = 0;     // in the record that was searched
  uint32_t bits = 0;       // of a bit field: its width,
  uint64_t first_bit = 0;  // and where it begins in that record
};

class ValueTypes {
 public:
  virtual ~ValueTypes() = default;
  /// Without aliases and qualifiers.
  [[nodiscard]] virtual ValueType plain(ValueType type) const = 0;
  /// Of a plain type.
  [[nodiscard]] virtual ValueKind kind(ValueType type) const = 0;
  /// What a pointer points to, or an array consists of.
  [[nodiscard]] virtual ValueType target(ValueType type) const = 0;
  /// In bytes; 0 if unknown.
  [[nodiscard]] virtual uint64_t size(ValueType type) const = 0;
  /// Of a plain record, also in its unnamed members and base classes.
  [[nodiscard]] virtual std::optional<ValueMember> member(ValueType record,
                                                          std::string_view name) const = 0;
  /// Whether a record is only known by name.
  [[nodiscard]] virtual bool is_declaration(ValueType record) const = 0;
  /// "struct node*"; empty if it has no name.
  [[nodiscard]] virtual std::string shown(ValueType type) const = 0;
};

}  // namespace sonde
