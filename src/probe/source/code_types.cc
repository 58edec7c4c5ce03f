#include "probe/source/code_types.h"

#include <dwarf.h>

#include "dwarf/entry_cursor.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

constexpr int kMaxHops = 64;
constexpr int kMaxDepth = 16;
constexpr uint64_t kMaxElements = uint64_t{1} << 32;

bool is_qualifier(uint16_t tag) {
  switch (tag) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_shared_type:
    case DW_TAG_atomic_type:
      return true;
    default:
      return false;
  }
}

/// Past qualifiers and, if `aliases`, typedefs; and from a declaration to a unit of its own.
DwarfEntry resolve(DwarfEntry type, bool aliases) {
  for (int hop = 0; hop < kMaxHops && is_readable(type); ++hop) {
    EntryCursor in(type);
    if (!in.next()) return {};
    bool is_hop = is_qualifier(in.tag()) || (aliases && in.tag() == DW_TAG_typedef);
    if (is_hop)
      type = in.reference(DW_AT_type);
    else if (DwarfEntry whole = in.reference(DW_AT_signature); is_readable(whole))
      type = whole;
    else
      return type;
  }
  return {};
}

/// The number of elements that the dimensions of an array give; 0 if any is open.
uint64_t elements_of(DwarfEntry array) {
  EntryCursor in(array);
  if (!in.next() || !in.has_children()) return 0;
  EntryCursor dimensions(in.unit(), in.behind());
  uint64_t count = 1;
  while (dimensions.next()) {
    uint64_t length = 0;
    if (auto number = dimensions.number(DW_AT_count))
      length = *number;
    else if (auto last = dimensions.number(DW_AT_upper_bound))
      length = *last + 1;
    if (length == 0 || length > kMaxElements || count > kMaxElements / length) return 0;
    count *= length;
    dimensions.skip_children();
  }
  return count;
}

uint64_t size_within(DwarfEntry type, int depth) {
  type = plain_type(type);
  if (!is_readable(type) || depth > kMaxDepth) return 0;
  EntryCursor in(type);
  if (!in.next()) return 0;
  if (auto size = in.number(DW_AT_byte_size)) return *size;
  if (is_pointer(in.tag())) return type.unit->format.address_size;
  if (in.tag() == DW_TAG_enumeration_type) return size_within(in.reference(DW_AT_type), depth + 1);
  if (in.tag() != DW_TAG_array_type) return 0;
  uint64_t count = elements_of(type), each = size_within(in.reference(DW_AT_type), depth + 1);
  return each != 0 && count > UINT64_MAX / each ? 0 : count * each;
}

/// Where a member begins; nullopt if only the object can tell (virtual bases) or if it is static.
std::optional<FoundMember> placed(const EntryCursor& in) {
  if (in.number(DW_AT_external) || in.number(DW_AT_declaration)) return std::nullopt;
  FoundMember member;
  member.type = in.reference(DW_AT_type);
  member.bits = static_cast<uint32_t>(in.number(DW_AT_bit_size).value_or(0));
  if (auto offset = in.number(DW_AT_data_member_location)) {
    member.offset = *offset;
  } else if (DwarfValue block = in.value(DW_AT_data_member_location); !block.bytes.empty()) {
    ByteCursor expression(block.bytes, in.unit().file->order());
    if (expression.u8() != DW_OP_plus_uconst) return std::nullopt;
    member.offset = uleb128(expression);
  }
  if (member.bits == 0) return member;
  if (auto bit = in.number(DW_AT_data_bit_offset)) {
    member.first_bit = *bit;
  } else if (auto from_high = in.number(DW_AT_bit_offset)) {
    // Before DWARF 4, counted from the most significant bit of the storage unit.
    uint64_t storage = in.number(DW_AT_byte_size).value_or(size_of_type(member.type)) * 8;
    if (storage < *from_high + member.bits) return std::nullopt;
    member.first_bit = member.offset * 8 + storage - *from_high - member.bits;
  } else {
    member.first_bit = member.offset * 8;
  }
  return member;
}

std::optional<FoundMember> find_within(DwarfEntry record, std::string_view name, int depth,
                                       int& steps) {
  constexpr int kMaxSteps = 100'000;
  EntryCursor own(plain_type(record));
  if (depth > kMaxDepth || !own.next() || !own.has_children()) return std::nullopt;
  EntryCursor in(own.unit(), own.behind());
  while (in.next()) {
    if (++steps > kMaxSteps) return std::nullopt;
    bool is_base = in.tag() == DW_TAG_inheritance;
    if (in.tag() == DW_TAG_member || is_base) {
      auto member = placed(in);
      std::string_view own_name = in.text(DW_AT_name);
      if (member && !is_base && own_name == name) return member;
      if (member && (own_name.empty() || is_base) && is_record(tag_of(plain_type(member->type)))) {
        if (auto inner = find_within(member->type, name, depth + 1, steps)) {
          inner->offset += member->offset;
          inner->first_bit += member->offset * 8;
          return inner;
        }
      }
    }
    in.skip_children();
  }
  return std::nullopt;
}

std::string shown_within(DwarfEntry type, int depth) {
  type = resolve(type, false);
  if (!is_readable(type)) return "void";
  EntryCursor in(type);
  if (!in.next() || depth > kMaxDepth) return {};
  auto name = std::string(in.text(DW_AT_name));
  switch (in.tag()) {
    case DW_TAG_pointer_type:
    case DW_TAG_array_type: {
      std::string target = shown_within(in.reference(DW_AT_type), depth + 1);
      return target.empty() ? target : target + "*";
    }
    case DW_TAG_subroutine_type:
      return "(function_type)";
    case DW_TAG_structure_type:
      return name.empty() ? name : "struct " + name;
    case DW_TAG_union_type:
      return name.empty() ? name : "union " + name;
    case DW_TAG_enumeration_type:
      return name.empty() ? name : "enum " + name;
    default:
      return name;
  }
}

}  // namespace

DwarfEntry plain_type(DwarfEntry type) {
  return resolve(type, true);
}

DwarfEntry target_type(DwarfEntry type) {
  if (!is_readable(type)) return {};
  EntryCursor in(type);
  return in.next() ? in.reference(DW_AT_type) : DwarfEntry();
}

uint16_t tag_of(DwarfEntry entry) {
  if (!is_readable(entry)) return 0;
  EntryCursor in(entry);
  return in.next() ? in.tag() : uint16_t{0};
}

std::string_view name_of_type(DwarfEntry type) {
  if (!is_readable(type)) return {};
  EntryCursor in(type);
  return in.next() ? in.text(DW_AT_name) : std::string_view();
}

bool is_record(uint16_t tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

bool is_pointer(uint16_t tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
         tag == DW_TAG_rvalue_reference_type;
}

uint64_t size_of_type(DwarfEntry type) {
  return size_within(type, 0);
}

uint64_t encoding_of(DwarfEntry type) {
  if (!is_readable(type)) return 0;
  EntryCursor in(type);
  return in.next() ? in.number(DW_AT_encoding).value_or(0) : 0;
}

std::optional<FoundMember> find_member(DwarfEntry record, std::string_view name) {
  int steps = 0;
  return is_readable(plain_type(record)) ? find_within(record, name, 0, steps) : std::nullopt;
}

std::string shown_type(DwarfEntry type) {
  return shown_within(type, 0);
}

namespace {

DwarfEntry entry_of_type(ValueType type) {
  return {static_cast<const DwarfUnit*>(type.owner), type.number};
}

}  // namespace

ValueType DwarfValueTypes::plain(ValueType type) const {
  return of(plain_type(entry_of_type(type)));
}

ValueKind DwarfValueTypes::kind(ValueType type) const {
  DwarfEntry entry = entry_of_type(type);
  switch (uint16_t tag = tag_of(entry)) {
    case DW_TAG_pointer_type:
      return ValueKind::kPointer;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return ValueKind::kReference;
    case DW_TAG_array_type:
      return ValueKind::kArray;
    case DW_TAG_enumeration_type:
      return ValueKind::kEnum;
    case DW_TAG_base_type:
      break;
    default:
      return is_record(tag) ? ValueKind::kRecord : ValueKind::kOther;
  }
  switch (encoding_of(entry)) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
    case DW_ATE_signed_fixed:
      return ValueKind::kSigned;
    case DW_ATE_float:
    case DW_ATE_complex_float:
    case DW_ATE_imaginary_float:
    case DW_ATE_decimal_float:
      return ValueKind::kFloat;
    default:
      return ValueKind::kUnsigned;
  }
}

ValueType DwarfValueTypes::target(ValueType type) const {
  return of(target_type(entry_of_type(type)));
}

uint64_t DwarfValueTypes::size(ValueType type) const {
  return size_of_type(entry_of_type(type));
}

std::optional<ValueMember> DwarfValueTypes::member(ValueType record, std::string_view name) const {
  auto found = find_member(entry_of_type(record), name);
  if (!found) return std::nullopt;
  return ValueMember{of(found->type), found->offset, found->bits, found->first_bit};
}

bool DwarfValueTypes::is_declaration(ValueType record) const {
  EntryCursor in(entry_of_type(record));
  return in.next() && in.number(DW_AT_declaration).value_or(0) != 0;
}

std::string DwarfValueTypes::shown(ValueType type) const {
  return shown_type(entry_of_type(type));
}

}  // namespace sonde
