// DataTypes: the types of a program's variables, from its debug information, with their members:
// finds the field at an offset into a structure.
//
//   struct point { int x, y; };           DataTypeId point = types.of(entry);
//   struct line { struct point a, b; };   types.field_at(line, 12, 4).path == "b.y"
//
// Types are read on demand. `const` and the like are not types of their own here. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"
#include "dwarf/dwarf_file.h"

namespace sonde {

using DataTypeId = Id<struct DataTypeTag>;

enum class DataTypeKind : uint8_t {
  kUnknown,  // void, and invalid entries
  kNumber,
  kEnum,
  kPointer,  // references, too
  kRecord,   // struct, union, class
  kArray,
  kAlias,  // typedef
  kFunction,
};

struct DataMember {
  std::string_view name;  // empty: anonymous, or a base class
  DataTypeId type;
  uint64_t offset = 0;
  uint32_t bits = 0;  // of a bit field
};

struct DataType {
  DataTypeKind kind = DataTypeKind::kUnknown;
  uint16_t tag = 0;
  DwarfEntry entry;
  std::string_view name;
  uint64_t size = 0;          // as recorded in the entry; 0 if it follows from other types
  DwarfEntry target;          // pointee, element, or aliased type
  bool is_elsewhere = false;  // the target is this type, which has its own unit
  uint64_t count = 1;         // of an array's elements
  bool by_reference = false;  // of a record: never passed or returned in registers
  bool has_members = false;   // they have been read
  std::vector<DataMember> members;
};

/// What is at an offset into a type.
struct DataField {
  std::string path;     // "lru.next", "slots[2].key"; empty if the type has no members
  DataTypeId type;      // of the innermost member or array element
  uint64_t offset = 0;  // inside that type
};

class DataTypes {
 public:
  /// `scope_of` returns the namespace and classes around a type, "ns::Outer", or nothing.
  explicit DataTypes(std::function<std::string_view(DwarfEntry)> scope_of);

  /// The type of an entry; void for a null entry.
  DataTypeId of(DwarfEntry entry);
  [[nodiscard]] const DataType& operator[](DataTypeId id) const { return types_[id.index()]; }
  [[nodiscard]] size_t size() const { return types_.size(); }

  /// In bytes; 0 if unknown.
  uint64_t size_of(DataTypeId id);
  DataTypeId target_of(DataTypeId id) { return of((*this)[id].target); }
  /// The type with aliases resolved.
  DataTypeId plain(DataTypeId id);
  /// What a pointer or reference points to; nullopt for other types.
  std::optional<DataTypeId> pointee(DataTypeId id);
  /// The members of a record; empty for other types.
  std::span<const DataMember> members(DataTypeId id);

  /// As C and C++ write it: "struct point", "char*", "size_t".
  std::string name_of(DataTypeId id);
  /// The same with aliases resolved, unless the alias is the only name.
  std::string plain_name(DataTypeId id);

  /// The field that an access of `size` bytes (0: unknown) at an offset touches. In a union, the
  /// member of that size wins.
  DataField field_at(DataTypeId id, uint64_t offset, uint64_t size);
  /// Whether a member (at any depth) of type `part` begins at an offset; also true for the type
  /// itself at 0.
  bool has_part(DataTypeId id, uint64_t offset, DataTypeId part);
  /// Whether a record, or one nested in it, has an array with elements of that size.
  bool has_array_of(DataTypeId id, uint64_t element_size);

 private:
  void read(DataType& type);
  void read_members(DataType& type);
  uint64_t size_within(DataTypeId id, int depth);
  std::string name_within(DataTypeId id, int depth);
  bool has_part_within(DataTypeId id, uint64_t offset, DataTypeId part, int& steps, int depth);
  bool has_array_within(DataTypeId id, uint64_t element_size, int& steps, int depth);
  struct Search;
  bool search(Search& search, DataTypeId id, uint64_t offset, int depth);

  std::function<std::string_view(DwarfEntry)> scope_of_;
  std::deque<DataType> types_;  // the first is void
  struct HashEntry {
    size_t operator()(const std::pair<const DwarfUnit*, uint64_t>& key) const {
      return (reinterpret_cast<uintptr_t>(key.first) ^ key.second) * 0x9e3779b97f4a7c15u >> 7;
    }
  };
  tsl::robin_map<std::pair<const DwarfUnit*, uint64_t>, uint32_t, HashEntry> by_entry_;
};

}  // namespace sonde
