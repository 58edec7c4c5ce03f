#include "datatype/register_values.h"

#include <algorithm>

namespace sonde::datatype {
namespace {

/// More slots than functions use for spills.
constexpr size_t kMaxSlots = 512;

using Slot = std::pair<int64_t, Value>;

/// "slots[3].key" without its numbers.
std::string without_indexes(std::string_view path) {
  std::string out;
  bool inside = false;
  for (char c : path) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

}  // namespace

void RegisterValues::forget(uint64_t registers) {
  for (size_t reg = 0; reg < kRegisters; ++reg)
    if ((registers >> reg & 1) != 0) registers_[reg] = {};
}

Value RegisterValues::slot(int64_t offset) const {
  auto found = std::ranges::lower_bound(slots_, offset, {}, &Slot::first);
  return found != slots_.end() && found->first == offset ? found->second : Value();
}

void RegisterValues::set_slot(int64_t offset, const Value& value) {
  auto found = std::ranges::lower_bound(slots_, offset, {}, &Slot::first);
  bool is_there = found != slots_.end() && found->first == offset;
  if (value.kind == Value::Kind::kUnknown) {
    if (is_there) slots_.erase(found);
  } else if (is_there) {
    found->second = value;
  } else if (slots_.size() < kMaxSlots) {
    slots_.insert(found, {offset, value});
  }
}

bool ValueMeeting::meet(RegisterValues& into, const RegisterValues& other) {
  bool changed = false;
  auto merge = [&](Value& mine, const Value& theirs) {
    Value met = meet(mine, theirs);
    if (met == mine) return;
    mine = met;
    changed = true;
  };
  for (size_t reg = 0; reg < kRegisters; ++reg) merge(into.registers_[reg], other.registers_[reg]);
  for (Slot& slot : into.slots_) merge(slot.second, other.slot(slot.first));
  std::erase_if(into.slots_,
                [](const Slot& slot) { return slot.second.kind == Value::Kind::kUnknown; });
  return changed;
}

Value ValueMeeting::meet(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a == b || a.kind == Kind::kUnknown) return a;
  // A null pointer adds no other target.
  if (b.kind == Kind::kConstant && b.offset == 0 && a.kind == Kind::kPointer) return a;
  if (a.kind == Kind::kConstant && a.offset == 0 && b.kind == Kind::kPointer) return b;
  if ((a.kind == Kind::kConstant && b.kind == Kind::kConstant) ||
      (a.kind == Kind::kPointer && b.kind == Kind::kConstant)) {
    // Two places in one variable: code that walks an array at a known address.
    Value left = into_variable(a), right = into_variable(b);
    return left.kind == Kind::kPointer && right.kind == Kind::kPointer ? meet(left, right)
                                                                       : Value();
  }
  if (a.kind != b.kind || a.type != b.type) return {};
  if (a.offset == b.offset || (a.kind == Kind::kPointer && is_same_array(a, b))) {
    Value met = a;
    met.of_array = a.of_array || b.of_array || a.offset != b.offset;
    return met;
  }
  return {};
}

/// Converts an address to a pointer into the variable there; leaves other values unchanged.
Value ValueMeeting::into_variable(const Value& address) {
  if (address.kind != Value::Kind::kConstant) return address;
  auto data = index_.static_at(static_cast<uint64_t>(address.offset));
  if (!data) return {};
  Value pointer{.kind = Value::Kind::kPointer,
                .of_array = address.of_array,
                .type = types_.plain(data->type),
                .offset = static_cast<int64_t>(data->offset)};
  constexpr int kMaxDimensions = 8;
  for (int i = 0; i < kMaxDimensions; ++i) {
    if (types_[pointer.type].kind != DataTypeKind::kArray) break;
    pointer.type = types_.plain(types_.target_of(pointer.type));
    uint64_t each = types_.size_of(pointer.type);
    if (each == 0 || each > INT32_MAX) return {};
    pointer.of_array = true;
    pointer.offset %= static_cast<int64_t>(each);
  }
  return pointer;
}

/// Whether a pointer walks an array inside a structure.
bool ValueMeeting::is_same_array(const Value& a, const Value& b) {
  if (a.offset < 0 || b.offset < 0) return false;
  DataField left = types_.field_at(a.type, static_cast<uint64_t>(a.offset), 0);
  DataField right = types_.field_at(b.type, static_cast<uint64_t>(b.offset), 0);
  return left.path != right.path && left.type == right.type &&
         without_indexes(left.path) == without_indexes(right.path);
}

}  // namespace sonde::datatype
