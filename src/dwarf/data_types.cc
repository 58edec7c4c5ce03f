#include "dwarf/data_types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>

#include "dwarf/entry_cursor.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

/// Deeper than types that people write; bounds cycles.
constexpr int kMaxTypeDepth = 32;
constexpr size_t kMaxMembers = 1 << 16;
/// Members that one search examines.
constexpr int kMaxTried = 20000;

bool is_qualifier(uint16_t tag) {
  switch (tag) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
    case DW_TAG_immutable_type:
      return true;
    default:
      return false;
  }
}

DataTypeKind type_kind_of(uint16_t tag) {
  switch (tag) {
    case DW_TAG_base_type:
      return DataTypeKind::kNumber;
    case DW_TAG_enumeration_type:
      return DataTypeKind::kEnum;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return DataTypeKind::kPointer;
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
      return DataTypeKind::kRecord;
    case DW_TAG_array_type:
      return DataTypeKind::kArray;
    case DW_TAG_typedef:
    case DW_TAG_subrange_type:
      return DataTypeKind::kAlias;
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
      return DataTypeKind::kFunction;
    default:
      return DataTypeKind::kUnknown;
  }
}

std::string_view keyword_of(uint16_t tag) {
  switch (tag) {
    case DW_TAG_structure_type:
      return "struct";
    case DW_TAG_union_type:
      return "union";
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
      return "class";
    case DW_TAG_enumeration_type:
      return "enum";
    default:
      return {};
  }
}

/// "Bare" of "N6shapes4BareE": g++ gives a structure that only an alias names its linkage name
/// (Itanium C++ ABI, section 5.1).
std::string_view last_linked_name(std::string_view mangled) {
  std::string_view last;
  if (mangled.starts_with('N')) mangled.remove_prefix(1);
  while (!mangled.empty() && mangled[0] >= '1' && mangled[0] <= '9') {
    size_t length = 0;
    while (!mangled.empty() && mangled[0] >= '0' && mangled[0] <= '9' && length < mangled.size()) {
      length = length * 10 + static_cast<size_t>(mangled[0] - '0');
      mangled.remove_prefix(1);
    }
    if (length > mangled.size()) return {};
    last = mangled.substr(0, length);
    mangled.remove_prefix(length);
  }
  return last;
}

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/// The number of elements of an array, over all dimensions: its subranges have upper bounds or
/// counts (DWARF 5, section 5.5). 0 if one is open.
uint64_t elements_of(const EntryCursor& array) {
  if (!array.has_children()) return 0;
  EntryCursor in(array.unit(), array.behind());
  uint64_t count = 1;
  while (in.next()) {
    if (in.tag() == DW_TAG_subrange_type) {
      auto own = in.number(DW_AT_count), last = in.number(DW_AT_upper_bound);
      count = times(count, own ? *own : last ? *last + 1 : 0);
    }
    in.skip_children();
  }
  return count;
}

/// Where a member begins (DWARF 5, section 5.7.6). Static members have no offset.
std::optional<DataMember> placed(const EntryCursor& in, ByteOrder order) {
  DataMember member;
  member.name = in.text(DW_AT_name);
  member.bits = static_cast<uint32_t>(in.number(DW_AT_bit_size).value_or(0));
  if (in.number(DW_AT_external) || in.number(DW_AT_declaration)) return std::nullopt;
  if (auto offset = in.number(DW_AT_data_member_location)) {
    member.offset = *offset;
  } else if (DwarfValue block = in.value(DW_AT_data_member_location); !block.bytes.empty()) {
    // DWARF 2 wrote DW_OP_plus_uconst; other expressions are virtual bases, whose place is in the
    // object.
    ByteCursor expression(block.bytes, order);
    if (expression.u8() != DW_OP_plus_uconst) return std::nullopt;
    member.offset = uleb128(expression);
  }
  if (auto bit = in.number(DW_AT_data_bit_offset)) {
    member.offset = *bit / 8;
  } else if (auto from_high = in.number(DW_AT_bit_offset); from_high && member.bits > 0) {
    // Before DWARF 4, bits were counted from the most significant bit of the storage unit.
    uint64_t storage = in.number(DW_AT_byte_size).value_or(0) * 8;
    if (storage >= *from_high + member.bits)
      member.offset += (storage - *from_high - member.bits) / 8;
  }
  return member;
}

}  // namespace

DataTypes::DataTypes(std::function<std::string_view(DwarfEntry)> scope_of)
    : scope_of_(std::move(scope_of)) {
  types_.emplace_back();
}

DataTypeId DataTypes::of(DwarfEntry entry) {
  for (int hop = 0; hop < kMaxTypeDepth && is_readable(entry); ++hop) {
    auto [found, is_new] =
        by_entry_.try_emplace({entry.unit, entry.offset}, static_cast<uint32_t>(types_.size()));
    if (is_new) {
      types_.emplace_back().entry = entry;
      read(types_.back());
    }
    const DataType& type = types_[found->second];
    bool is_hop = is_qualifier(type.tag) || type.is_elsewhere;
    if (!is_hop && (is_new || type.tag != 0)) return DataTypeId(found->second);
    entry = type.target;
  }
  return DataTypeId(size_t{0});
}

void DataTypes::read(DataType& type) {
  EntryCursor in(type.entry);
  if (!in.next()) return;
  type.tag = in.tag();
  type.kind = type_kind_of(in.tag());
  type.name = in.text(DW_AT_name);
  if (type.name.empty() && type.kind == DataTypeKind::kRecord)
    type.name = last_linked_name(in.text(DW_AT_linkage_name));
  type.size = in.number(DW_AT_byte_size).value_or(0);
  type.by_reference = in.number(DW_AT_calling_convention) == uint64_t{DW_CC_pass_by_reference};
  type.target = in.reference(DW_AT_type);
  if (DwarfEntry whole = in.reference(DW_AT_signature); is_readable(whole)) {
    type.target = whole;
    type.is_elsewhere = true;
  }
  if (type.kind == DataTypeKind::kPointer && type.size == 0)
    type.size = type.entry.unit->format.address_size;
  if (type.kind == DataTypeKind::kArray) type.count = elements_of(in);
}

uint64_t DataTypes::size_of(DataTypeId id) {
  return size_within(id, 0);
}

uint64_t DataTypes::size_within(DataTypeId id, int depth) {
  const DataType& type = types_[id.index()];
  if (type.size != 0 || depth > kMaxTypeDepth) return type.size;
  if (type.kind == DataTypeKind::kAlias || type.kind == DataTypeKind::kEnum)
    return type.target.unit == nullptr ? 0 : size_within(of(type.target), depth + 1);
  if (type.kind == DataTypeKind::kArray)
    return times(type.count, size_within(of(type.target), depth + 1));
  return 0;
}

DataTypeId DataTypes::plain(DataTypeId id) {
  for (int hop = 0; hop < kMaxTypeDepth && (*this)[id].kind == DataTypeKind::kAlias; ++hop)
    id = target_of(id);
  return id;
}

std::optional<DataTypeId> DataTypes::pointee(DataTypeId id) {
  DataTypeId pointer = plain(id);
  if ((*this)[pointer].kind != DataTypeKind::kPointer) return std::nullopt;
  return target_of(pointer);
}

std::span<const DataMember> DataTypes::members(DataTypeId id) {
  DataType& type = types_[id.index()];
  if (type.kind == DataTypeKind::kRecord && !type.has_members) read_members(type);
  return type.members;
}

void DataTypes::read_members(DataType& type) {
  type.has_members = true;
  EntryCursor record(type.entry);
  if (!record.next() || !record.has_children()) return;
  EntryCursor in(record.unit(), record.behind());
  std::vector<DataMember> members;
  while (members.size() < kMaxMembers && in.next()) {
    if (in.tag() == DW_TAG_member || in.tag() == DW_TAG_inheritance) {
      if (auto member = placed(in, in.unit().file->order())) {
        member->type = of(in.reference(DW_AT_type));
        members.push_back(*member);
      }
    }
    in.skip_children();
  }
  type.members = std::move(members);
}

std::string DataTypes::name_of(DataTypeId id) {
  return name_within(id, 0);
}

std::string DataTypes::name_within(DataTypeId id, int depth) {
  const DataType& type = types_[id.index()];
  if (depth > kMaxTypeDepth) return "…";
  auto target = [&] { return name_within(of(type.target), depth + 1); };
  switch (type.kind) {
    case DataTypeKind::kPointer: {
      std::string_view mark = type.tag == DW_TAG_reference_type          ? "&"
                              : type.tag == DW_TAG_rvalue_reference_type ? "&&"
                                                                         : "*";
      return target().append(mark);
    }
    case DataTypeKind::kArray:
      return target() + "[]";
    case DataTypeKind::kFunction:
      return "(function_type)";
    case DataTypeKind::kUnknown:
      if (type.name.empty()) return type.tag == 0 ? "void" : "(unknown)";
      break;
    default:
      break;
  }
  std::string name(keyword_of(type.tag));
  if (type.name.empty()) return name;
  if (!name.empty()) name += ' ';
  bool may_be_nested = type.kind != DataTypeKind::kNumber;
  std::string_view scope = may_be_nested ? scope_of_(type.entry) : std::string_view();
  if (!scope.empty()) name.append(scope).append("::");
  return name.append(type.name);
}

std::string DataTypes::plain_name(DataTypeId id) {
  DataTypeId named = id;
  for (int hop = 0; hop < kMaxTypeDepth; ++hop) {
    const DataType& type = (*this)[id];
    if (!type.name.empty()) named = id;
    if (type.kind != DataTypeKind::kAlias) {
      bool has_name = !type.name.empty() || type.kind == DataTypeKind::kPointer ||
                      type.kind == DataTypeKind::kArray;
      return name_of(has_name ? id : named);
    }
    id = target_of(id);
  }
  return name_of(id);
}

struct DataTypes::Search {
  uint64_t size;  // of the access
  int steps = 0;
  std::string path = {};
  DataField best = {};
  bool found = false;
};

/// Whether a member of exactly that size was found; if not, `best` is the first one encountered.
bool DataTypes::search(Search& search, DataTypeId id, uint64_t offset, int depth) {
  id = plain(id);
  DataTypeKind kind = (*this)[id].kind;
  uint64_t size = size_of(id);
  size_t path_size = search.path.size();
  if (kind == DataTypeKind::kArray && depth < kMaxTypeDepth) {
    DataTypeId element = target_of(id);
    uint64_t each = size_of(element);
    if (each == 0) return false;
    if (!search.path.empty()) search.path += fmt::format("[{}]", offset / each);
    bool exact = this->search(search, element, offset % each, depth + 1);
    search.path.resize(path_size);
    return exact;
  }
  if (kind == DataTypeKind::kRecord && depth < kMaxTypeDepth) {
    for (const DataMember& member : members(id)) {
      if (++search.steps > kMaxTried) return true;
      uint64_t length = size_of(member.type);
      bool is_open_array = length == 0 && (*this)[plain(member.type)].kind == DataTypeKind::kArray;
      if (offset < member.offset || (!is_open_array && offset - member.offset >= length)) continue;
      if (is_open_array && offset < size && &member != &members(id).back()) continue;
      if (!member.name.empty()) {
        if (!search.path.empty()) search.path += '.';
        search.path += member.name;
      }
      bool exact = this->search(search, member.type, offset - member.offset, depth + 1);
      search.path.resize(path_size);
      if (exact) return true;
    }
    return false;
  }
  if (!search.found || (search.size != 0 && size == search.size)) {
    search.best = {search.path, id, offset};
    search.found = true;
  }
  return search.size == 0 || (size == search.size && offset == 0);
}

DataField DataTypes::field_at(DataTypeId id, uint64_t offset, uint64_t size) {
  Search search{.size = size};
  this->search(search, id, offset, 0);
  return search.found ? std::move(search.best) : DataField{};
}

bool DataTypes::has_part(DataTypeId id, uint64_t offset, DataTypeId part) {
  int steps = 0;
  return has_part_within(id, offset, plain(part), steps, 0);
}

bool DataTypes::has_part_within(DataTypeId id, uint64_t offset, DataTypeId part, int& steps,
                                int depth) {
  id = plain(id);
  if (id == part && offset == 0) return true;
  if (depth > kMaxTypeDepth) return false;
  if ((*this)[id].kind == DataTypeKind::kArray) {
    DataTypeId element = target_of(id);
    uint64_t each = size_of(element);
    return each != 0 && has_part_within(element, offset % each, part, steps, depth + 1);
  }
  for (const DataMember& member : members(id)) {
    if (++steps > kMaxTried) return false;
    bool is_here = offset >= member.offset && offset - member.offset < size_of(member.type);
    if (is_here && has_part_within(member.type, offset - member.offset, part, steps, depth + 1))
      return true;
  }
  return false;
}

bool DataTypes::has_array_of(DataTypeId id, uint64_t element_size) {
  int steps = 0;
  return has_array_within(id, element_size, steps, 0);
}

bool DataTypes::has_array_within(DataTypeId id, uint64_t element_size, int& steps, int depth) {
  id = plain(id);
  if (depth > kMaxTypeDepth) return false;
  if ((*this)[id].kind == DataTypeKind::kArray) {
    DataTypeId element = target_of(id);
    return size_of(element) == element_size ||
           has_array_within(element, element_size, steps, depth + 1);
  }
  for (const DataMember& member : members(id)) {
    if (++steps > kMaxTried) return false;
    if (has_array_within(member.type, element_size, steps, depth + 1)) return true;
  }
  return false;
}

}  // namespace sonde
