#include "probe/source/value_place.h"

#include <dwarf.h>

#include "dwarf/entry_cursor.h"
#include "dwarf/variable_location.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

constexpr size_t kMaxLocations = 1 << 16;
constexpr size_t kMaxSteps = 16;
/// endbr64, and a call that is patched.
constexpr uint64_t kHookSize = 16;
using PlaceKind = ValuePlace::Kind;

bool is_plain(Bytes expression, ByteOrder order) {
  uint8_t op = ByteCursor(expression, order).u8();
  return op == DW_OP_addr || op == DW_OP_fbreg || (op >= DW_OP_breg0 && op <= DW_OP_breg31) ||
         (op >= DW_OP_reg0 && op <= DW_OP_reg31) || op == DW_OP_regx || op == DW_OP_bregx;
}

class PlaceEvaluation {
 public:
  PlaceEvaluation(const DwarfUnit& unit, Bytes expression, const PlaceContext& context)
      : unit_(unit), in_(expression, unit.file->order()), context_(context) {}

  ValuePlace run() {
    if (in_.left() == 0) return {};
    place_.begins_plainly = is_plain(ByteCursor(in_).rest(), in_.order());
    while (in_.left() > 0 && place_.reason.empty()) step(in_.u8());
    if (!in_.ok()) refuse("its location is damaged");
    if (place_.reason.empty() && place_.kind == PlaceKind::kNone) finish_number();
    if (!place_.reason.empty()) place_.kind = PlaceKind::kUnsupported;
    return std::move(place_);
  }

 private:
  void refuse(std::string_view why) {
    if (place_.reason.empty()) place_.reason = why;
  }

  void begin(PlaceKind kind, uint64_t reg, int64_t offset) {
    if (place_.kind != PlaceKind::kNone || number_)
      return refuse("it is computed from several values");
    place_.kind = kind;
    place_.reg = reg;
    if (kind != PlaceKind::kRegister) place_.offsets = {offset};
  }

  void add(uint64_t number) {
    if (place_.offsets.empty()) return refuse("it is computed from a register");
    int64_t& last = place_.offsets.back();
    last = static_cast<int64_t>(static_cast<uint64_t>(last) + number);
  }

  void push(uint64_t number) {
    if (number_) return refuse("it is computed from several values");
    number_ = number;
  }

  void step(uint8_t op) {
    if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
      return begin(PlaceKind::kRegister, op - DW_OP_reg0, 0);
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
      return begin(PlaceKind::kMemory, op - DW_OP_breg0, sleb128(in_));
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) return push(op - DW_OP_lit0);
    switch (op) {
      case DW_OP_nop:
        return;
      case DW_OP_regx:
        return begin(PlaceKind::kRegister, uleb128(in_), 0);
      case DW_OP_bregx: {
        uint64_t reg = uleb128(in_);
        return begin(PlaceKind::kMemory, reg, sleb128(in_));
      }
      case DW_OP_fbreg:
        return at_frame(sleb128(in_));
      case DW_OP_addr:
        return begin(PlaceKind::kStatic, 0, static_cast<int64_t>(address()));
      case DW_OP_addrx:
      case DW_OP_GNU_addr_index:
        return at_indexed(uleb128(in_));
      case DW_OP_deref:
        if (place_.offsets.empty()) return refuse("it is computed from a register");
        if (place_.offsets.size() >= kMaxSteps)
          return refuse("it is reached through too many pointers");
        place_.offsets.push_back(0);
        return;
      case DW_OP_plus_uconst:
        return add(uleb128(in_));
      case DW_OP_plus:
      case DW_OP_minus: {
        if (!number_ || place_.kind == PlaceKind::kNone)
          return refuse("it is computed from several values");
        add(op == DW_OP_plus ? *number_ : -*number_);
        number_.reset();
        return;
      }
      case DW_OP_const1u:
        return push(in_.u8());
      case DW_OP_const1s:
        return push(static_cast<uint64_t>(static_cast<int8_t>(in_.u8())));
      case DW_OP_const2u:
        return push(in_.u16());
      case DW_OP_const2s:
        return push(static_cast<uint64_t>(static_cast<int16_t>(in_.u16())));
      case DW_OP_const4u:
        return push(in_.u32());
      case DW_OP_const4s:
        return push(static_cast<uint64_t>(static_cast<int32_t>(in_.u32())));
      case DW_OP_const8u:
      case DW_OP_const8s:
        return push(in_.u64());
      case DW_OP_constu:
        return push(uleb128(in_));
      case DW_OP_consts:
        return push(static_cast<uint64_t>(sleb128(in_)));
      case DW_OP_implicit_value:
        return at_implicit(in_.take(uleb128(in_)));
      case DW_OP_stack_value:
        return value_itself();
      case DW_OP_entry_value:
      case DW_OP_GNU_entry_value:
        return at_entry(in_.take(uleb128(in_)));
      case DW_OP_piece:
      case DW_OP_bit_piece:
        return refuse("it is split between several places");
      case DW_OP_form_tls_address:
      case DW_OP_GNU_push_tls_address:
        return refuse("it is thread-local");
      case DW_OP_implicit_pointer:
      case DW_OP_GNU_implicit_pointer:
        return refuse("the pointer was optimised out");
      default:
        return refuse("it is computed");
    }
  }

  uint64_t address() { return unit_.format.address_size == 8 ? in_.u64() : in_.u32(); }

  void at_frame(int64_t offset) {
    if (!context_.base) return refuse("there is no call frame information here");
    auto sum = static_cast<uint64_t>(context_.base->offset) + static_cast<uint64_t>(offset);
    begin(PlaceKind::kMemory, context_.base->reg, static_cast<int64_t>(sum));
  }

  void at_indexed(uint64_t index) {
    auto found = address_of(unit_, {DW_FORM_addrx, index, {}});
    if (!found) return refuse("its address is not in the file");
    begin(PlaceKind::kStatic, 0, static_cast<int64_t>(*found));
  }

  void at_implicit(Bytes bytes) {
    if (bytes.size() > 8 || place_.kind != PlaceKind::kNone)
      return refuse("it is a constant of more than eight bytes");
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      size_t from = in_.order() == ByteOrder::kLittle ? i : bytes.size() - 1 - i;
      value |= static_cast<uint64_t>(bytes[from]) << (8 * i);
    }
    push(value);
    is_value_ = true;
  }

  /// The place so far is not where the value is, but the value.
  void value_itself() {
    is_value_ = true;
    if (number_) return;
    if (place_.kind == PlaceKind::kMemory && place_.offsets.size() == 1 && place_.offsets[0] == 0) {
      place_.kind = PlaceKind::kRegister;
      place_.offsets.clear();
    } else if (place_.kind == PlaceKind::kStatic && place_.offsets.size() == 1) {
      place_.kind = PlaceKind::kAddressOf;
    } else if (place_.offsets.size() > 1 && place_.offsets.back() == 0) {
      place_.offsets.pop_back();  // what the last pointer led to is the value
    } else if (place_.kind != PlaceKind::kRegister) {
      refuse("it is computed");
    }
  }

  /// What a register had when the function was called.
  void at_entry(Bytes expression) {
    if (context_.address != context_.entry)
      return refuse("only its value at the function's entry is known: probe there");
    ByteCursor inner(expression, in_.order());
    uint8_t op = inner.u8();
    if (op < DW_OP_reg0 || op > DW_OP_reg31 || inner.left() > 0) return refuse("it is computed");
    begin(PlaceKind::kMemory, op - DW_OP_reg0, 0);
  }

  void finish_number() {
    if (!number_) return refuse("its location is damaged");
    place_.kind = is_value_ ? PlaceKind::kConstant : PlaceKind::kStatic;
    place_.offsets = {static_cast<int64_t>(*number_)};
  }

  const DwarfUnit& unit_;
  ByteCursor in_;
  const PlaceContext& context_;
  ValuePlace place_;
  std::optional<uint64_t> number_;
  bool is_value_ = false;
};

/// DW_AT_const_value: in the file's own form.
std::optional<uint64_t> constant_of(const EntryCursor& in) {
  if (auto number = in.number(DW_AT_const_value)) return number;
  DwarfValue block = in.value(DW_AT_const_value);
  if (block.bytes.empty() || block.bytes.size() > 8) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < block.bytes.size(); ++i)
    value |= static_cast<uint64_t>(block.bytes[i]) << (8 * i);
  return value;
}

const PlacedExpression* expression_at(const std::vector<PlacedExpression>& list, uint64_t address) {
  for (const PlacedExpression& one : list)
    if (address >= one.low && address < one.high) return &one;
  return nullptr;
}

}  // namespace

std::optional<RegisterOffset> frame_base_of(DwarfEntry function, uint64_t address,
                                            const ElfFile* object, const ElfFile& debug) {
  EntryCursor in(function);
  if (!in.next()) return std::nullopt;
  std::vector<PlacedExpression> list;
  read_places(in.unit(), in.value(DW_AT_frame_base), kMaxLocations, list);
  const PlacedExpression* found = expression_at(list, address);
  if (found == nullptr || found->expression.empty()) return std::nullopt;
  ByteCursor expression(found->expression, in.unit().file->order());
  uint8_t op = expression.u8();
  if (op == DW_OP_call_frame_cfa) return cfa_at(object, debug, address);
  if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
    return RegisterOffset{static_cast<uint64_t>(op - DW_OP_breg0), sleb128(expression)};
  if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
    return RegisterOffset{static_cast<uint64_t>(op - DW_OP_reg0), 0};
  return std::nullopt;
}

ValuePlace place_of(DwarfEntry variable, const PlaceContext& context) {
  EntryCursor in(variable);
  if (!in.next()) return {};
  DwarfValue location = in.value(DW_AT_location);
  if (!location) {
    if (auto constant = constant_of(in))
      return {.kind = PlaceKind::kConstant,
              .offsets = {static_cast<int64_t>(*constant)},
              .is_attribute = true};
    return {};
  }
  std::vector<PlacedExpression> list;
  read_places(in.unit(), location, kMaxLocations, list);
  const PlacedExpression* found = expression_at(list, context.address);
  // Where the kernel's tracer has its hook before the first instruction, parameters have a place
  // only after it: nothing has moved in between.
  if (found == nullptr && in.tag() == DW_TAG_formal_parameter && context.address == context.entry)
    for (const PlacedExpression& one : list)
      if (one.low > context.entry && one.low <= context.entry + kHookSize &&
          (found == nullptr || one.low < found->low))
        found = &one;
  if (found == nullptr) return {};
  return PlaceEvaluation(in.unit(), found->expression, context).run();
}

}  // namespace sonde
