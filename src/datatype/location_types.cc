#include "datatype/location_types.h"

#include <algorithm>
#include <tuple>

namespace sonde::datatype {
namespace {

/// Larger ones would slow down every lookup; no function's variable is that large.
constexpr uint64_t kMaxStoredSize = uint64_t{1} << 32;

}  // namespace

PlaceTypes::PlaceTypes(DataIndex& index, const FunctionVariables* variables) : index_(index) {
  if (variables == nullptr) return;
  for (const PlacedVariable& variable : variables->variables) add(variable);
  uint64_t end = 0;
  for (const Held& held : held_) furthest_.push_back(end = std::max(end, held.high));
  std::ranges::sort(stored_, {}, [](const Stored& one) {
    return std::tuple(one.kind, one.reg, one.begin, one.order);
  });
  for (const Stored& one : stored_) largest_ = std::max(largest_, one.size);
}

void PlaceTypes::add(const PlacedVariable& variable) {
  DataTypes& types = index_.types();
  const VariablePiece& piece = variable.piece;
  DataTypeId type = types.of(variable.type);
  if (piece.kind == VariablePiece::Kind::kThread) return;
  bool is_value =
      piece.kind == VariablePiece::Kind::kValue || piece.kind == VariablePiece::Kind::kFrameValue;
  if (!is_value) {
    uint64_t size = piece.size != 0 ? piece.size : types.size_of(type);
    if (size <= kMaxStoredSize)
      stored_.push_back({variable.low, variable.high, piece.kind, piece.reg, piece.offset, size,
                         type, static_cast<int64_t>(piece.begin), stored_.size()});
    return;
  }
  if (piece.kind != VariablePiece::Kind::kValue) return;
  DataTypeId held = type;
  if (piece.begin != 0 || piece.size != 0) {
    DataField field = types.field_at(type, piece.begin, piece.size);
    if (!field.type.valid() || field.offset != 0) return;
    held = field.type;
  } else if (types[types.plain(type)].kind == DataTypeKind::kRecord) {
    // A structure of one pointer is passed in a register like that pointer.
    DataField field = types.field_at(type, 0, types.size_of(type));
    if (!field.type.valid()) return;
    held = field.type;
  }
  auto pointee = types.pointee(held);
  if (!pointee) return;
  Value value{.kind = Value::Kind::kPointer,
              .type = *pointee,
              .offset = static_cast<int64_t>(0 - static_cast<uint64_t>(piece.offset))};
  held_.push_back({variable.low, variable.high, piece.reg, value});
}

bool PlaceTypes::is_part_of(const Value& part, const Value& whole) const {
  if (whole.kind != Value::Kind::kPointer || whole.type == part.type) return false;
  DataTypes& types = index_.types();
  if (types[types.plain(whole.type)].kind != DataTypeKind::kRecord) return false;
  auto offset = static_cast<uint64_t>(whole.offset) - static_cast<uint64_t>(part.offset);
  return offset < types.size_of(whole.type) && types.has_part(whole.type, offset, part.type);
}

void PlaceTypes::apply(uint64_t address, uint64_t started_after, RegisterValues& values) const {
  DataTypes& types = index_.types();
  auto end = std::ranges::upper_bound(held_, address, {}, &Held::low);
  auto first = held_.begin();
  if (started_after != 0) first = std::ranges::upper_bound(held_, started_after, {}, &Held::low);
  // The earlier ones have all ended.
  auto alive = std::ranges::upper_bound(furthest_, address);
  first = std::max(first, held_.begin() + (alive - furthest_.begin()));
  for (; first < end; ++first) {
    if (address >= first->high) continue;
    // "void*" says less than what is already known.
    bool says_nothing = types[types.plain(first->value.type)].kind == DataTypeKind::kUnknown;
    if (says_nothing && values[first->reg].kind != Value::Kind::kUnknown) continue;
    Value value = first->value;
    const Value& before = values[first->reg];
    // A pointer to a member says less than one to the enclosing structure.
    if (is_part_of(value, before)) continue;
    value.of_array = before.type == value.type && before.of_array;
    values.set(first->reg, value);
  }
}

std::optional<TypedPlace> PlaceTypes::stored(uint64_t address, VariablePiece::Kind kind,
                                             uint8_t reg, int64_t offset) const {
  const Stored* found = nullptr;
  auto after = std::ranges::upper_bound(
      stored_, std::tuple(kind, reg, offset), {},
      [](const Stored& one) { return std::tuple(one.kind, one.reg, one.begin); });
  while (after != stored_.begin()) {
    const Stored& one = *--after;
    if (one.kind != kind || one.reg != reg) break;
    uint64_t inside = static_cast<uint64_t>(offset) - static_cast<uint64_t>(one.begin);
    if (inside >= largest_) break;
    bool is_here = address >= one.low && address < one.high && inside < one.size;
    if (is_here && (found == nullptr || one.order > found->order)) found = &one;
  }
  if (found == nullptr) return std::nullopt;
  return TypedPlace{found->type, offset - found->begin + found->type_offset};
}

std::optional<TypedPlace> PlaceTypes::at_register(uint64_t address, uint8_t reg,
                                                  int64_t displacement) const {
  return stored(address, VariablePiece::Kind::kMemory, reg, displacement);
}

std::optional<TypedPlace> PlaceTypes::in_frame(uint64_t address, int64_t offset) const {
  return stored(address, VariablePiece::Kind::kFrameMemory, 0, offset);
}

std::optional<TypedPlace> PlaceTypes::at_static(uint64_t address, uint64_t data_address) const {
  if (auto local =
          stored(address, VariablePiece::Kind::kStatic, 0, static_cast<int64_t>(data_address)))
    return local;
  if (auto found = index_.static_at(data_address))
    return TypedPlace{found->type, static_cast<int64_t>(found->offset)};
  return std::nullopt;
}

}  // namespace sonde::datatype
