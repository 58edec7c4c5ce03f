#include "dwarf/variable_location.h"

#include <dwarf.h>

#include <optional>

#include "elf/leb128.h"

namespace sonde {
namespace {

/// One simple location: what comes before a DW_OP_piece, or a whole expression.
class PlaceReader {
 public:
  PlaceReader(const DwarfUnit& unit, Bytes expression)
      : unit_(unit), in_(expression, unit.file->order()) {}

  void run(std::vector<VariablePiece>& out) {
    uint64_t begin = 0;
    while (in_.left() > 0) {
      uint8_t op = in_.u8();
      if (op == DW_OP_piece) {
        uint64_t size = uleb128(in_);
        if (!in_.ok() || size > kMaxSize) return;
        if (place_ && !is_lost_) out.push_back(made(begin, size));
        begin += size;
        place_.reset();
        is_lost_ = false;
        continue;
      }
      if (op == DW_OP_bit_piece || !step(op)) return;
    }
    if (in_.ok() && place_ && !is_lost_ && begin == 0) out.push_back(made(0, 0));
  }

 private:
  static constexpr uint64_t kMaxSize = uint64_t{1} << 40;

  [[nodiscard]] VariablePiece made(uint64_t begin, uint64_t size) const {
    VariablePiece piece = *place_;
    piece.begin = begin;
    piece.size = size;
    return piece;
  }

  void set(VariablePiece::Kind kind, uint64_t reg, int64_t offset) {
    // A second value on the stack: something is computed.
    if (place_ || reg > UINT8_MAX) is_lost_ = true;
    place_ = VariablePiece{.kind = kind, .reg = static_cast<uint8_t>(reg), .offset = offset};
  }

  /// False if the rest cannot be read.
  bool step(uint8_t op) {
    using Kind = VariablePiece::Kind;
    if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
      set(Kind::kValue, op - DW_OP_reg0, 0);
      return true;
    }
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
      set(Kind::kMemory, op - DW_OP_breg0, sleb128(in_));
      return true;
    }
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
      is_lost_ = true;
      return true;
    }
    switch (op) {
      case DW_OP_regx:
        set(Kind::kValue, uleb128(in_), 0);
        return true;
      case DW_OP_bregx: {
        uint64_t reg = uleb128(in_);
        set(Kind::kMemory, reg, sleb128(in_));
        return true;
      }
      case DW_OP_fbreg:
        set(Kind::kFrameMemory, 0, sleb128(in_));
        return true;
      case DW_OP_call_frame_cfa:
        set(Kind::kFrameMemory, 0, 0);
        return true;
      case DW_OP_addr:
        set(Kind::kStatic, 0,
            static_cast<int64_t>(unit_.format.address_size == 8 ? in_.u64() : in_.u32()));
        return true;
      case DW_OP_addrx:
      case DW_OP_GNU_addr_index: {
        auto address = address_of(unit_, {DW_FORM_addrx, uleb128(in_), {}});
        if (!address) return false;
        set(Kind::kStatic, 0, static_cast<int64_t>(*address));
        return true;
      }
      case DW_OP_plus_uconst: {
        uint64_t more = uleb128(in_);
        if (place_) place_->offset = static_cast<int64_t>(uint64_t(place_->offset) + more);
        return true;
      }
      case DW_OP_const4u:
        thread_offset_ = in_.u32();
        return true;
      case DW_OP_const8u:
        thread_offset_ = static_cast<int64_t>(in_.u64());
        return true;
      case DW_OP_constx:
      case DW_OP_GNU_const_index: {
        auto number = address_of(unit_, {DW_FORM_addrx, uleb128(in_), {}});
        if (!number) return false;
        thread_offset_ = static_cast<int64_t>(*number);
        return true;
      }
      case DW_OP_form_tls_address:
      case DW_OP_GNU_push_tls_address:
        if (!thread_offset_) return false;
        set(Kind::kThread, 0, *thread_offset_);
        return true;
      case DW_OP_stack_value:
        if (!place_) return true;
        if (place_->kind == Kind::kMemory)
          place_->kind = Kind::kValue;
        else if (place_->kind == Kind::kFrameMemory)
          place_->kind = Kind::kFrameValue;
        else
          is_lost_ = true;
        return true;
      default:
        return skip_operation(op);
    }
  }

  /// Skips an operation that makes the location unusable but has a known length: pieces after it
  /// may be usable.
  bool skip_operation(uint8_t op) {
    is_lost_ = true;
    switch (op) {
      case DW_OP_entry_value:
      case DW_OP_GNU_entry_value:
      case DW_OP_implicit_value:
        in_.skip(uleb128(in_));
        break;
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_deref_size:
      case DW_OP_pick:
        in_.skip(1);
        break;
      case DW_OP_const2u:
      case DW_OP_const2s:
        in_.skip(2);
        break;
      case DW_OP_const4s:
        in_.skip(4);
        break;
      case DW_OP_const8s:
        in_.skip(8);
        break;
      case DW_OP_constu:
      case DW_OP_consts:
      case DW_OP_convert:
      case DW_OP_GNU_convert:
        uleb128(in_);
        break;
      case DW_OP_deref:
      case DW_OP_dup:
      case DW_OP_drop:
      case DW_OP_over:
      case DW_OP_swap:
      case DW_OP_rot:
      case DW_OP_abs:
      case DW_OP_and:
      case DW_OP_div:
      case DW_OP_minus:
      case DW_OP_mod:
      case DW_OP_mul:
      case DW_OP_neg:
      case DW_OP_not:
      case DW_OP_or:
      case DW_OP_plus:
      case DW_OP_shl:
      case DW_OP_shr:
      case DW_OP_shra:
      case DW_OP_xor:
      case DW_OP_eq:
      case DW_OP_ge:
      case DW_OP_gt:
      case DW_OP_le:
      case DW_OP_lt:
      case DW_OP_ne:
      case DW_OP_nop:
        break;
      default:
        return false;
    }
    return in_.ok();
  }

  const DwarfUnit& unit_;
  ByteCursor in_;
  std::optional<VariablePiece> place_;
  std::optional<int64_t> thread_offset_;
  bool is_lost_ = false;
};

class ListReader {
 public:
  ListReader(const DwarfUnit& unit, size_t limit, std::vector<PlacedExpression>& out)
      : unit_(unit), base_(unit.low_pc), left_(limit), out_(out) {}

  /// .debug_loc: pairs of addresses, relative to a base, and expressions.
  void read_pairs(ByteCursor in) {
    uint64_t select = unit_.format.address_size == 8 ? UINT64_MAX : UINT32_MAX;
    while (in.ok() && left_ > 0) {
      uint64_t low = address(in), high = address(in);
      if (!in.ok() || (low == 0 && high == 0)) return;
      if (low == select) {
        base_ = high;
        continue;
      }
      add(base_ + low, base_ + high, in.take(in.u16()), in.ok());
    }
  }

  /// .debug_loclists: a sequence of small instructions.
  void read_entries(ByteCursor in) {
    while (in.ok() && left_ > 0) {
      uint8_t kind = in.u8();
      uint64_t low = 0, high = 0;
      switch (kind) {
        case DW_LLE_base_addressx:
          base_ = indexed(in);
          continue;
        case DW_LLE_base_address:
          base_ = address(in);
          continue;
        case DW_LLE_startx_endx:
          low = indexed(in);
          high = indexed(in);
          break;
        case DW_LLE_startx_length:
          low = indexed(in);
          high = low + uleb128(in);
          break;
        case DW_LLE_offset_pair:
          low = base_ + uleb128(in);
          high = base_ + uleb128(in);
          break;
        case DW_LLE_default_location:
          high = UINT64_MAX;
          break;
        case DW_LLE_start_end:
          low = address(in);
          high = address(in);
          break;
        case DW_LLE_start_length:
          low = address(in);
          high = low + uleb128(in);
          break;
        default:  // the end, or an unknown kind
          return;
      }
      Bytes expression = in.take(uleb128(in));
      add(low, high, expression, in.ok());
    }
  }

 private:
  uint64_t address(ByteCursor& in) const {
    return unit_.format.address_size == 8 ? in.u64() : in.u32();
  }
  [[nodiscard]] uint64_t indexed(ByteCursor& in) const {
    return address_of(unit_, {DW_FORM_addrx, uleb128(in), {}}).value_or(0);
  }
  void add(uint64_t low, uint64_t high, Bytes expression, bool ok) {
    --left_;
    if (ok && low < high) out_.push_back({low, high, expression});
  }

  const DwarfUnit& unit_;
  uint64_t base_;
  size_t left_;
  std::vector<PlacedExpression>& out_;
};

ByteCursor cursor_at(Bytes section, uint64_t offset, ByteOrder order) {
  return ByteCursor(offset < section.size() ? section.subspan(offset) : Bytes(), order);
}

}  // namespace

void read_pieces(const DwarfUnit& unit, Bytes expression, std::vector<VariablePiece>& out) {
  PlaceReader(unit, expression).run(out);
}

void read_places(const DwarfUnit& unit, const DwarfValue& location, size_t limit,
                 std::vector<PlacedExpression>& out) {
  ByteOrder order = unit.file->order();
  ListReader reader(unit, limit, out);
  switch (location.form) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
      out.push_back({0, UINT64_MAX, location.bytes});
      return;
    case DW_FORM_loclistx: {
      Bytes lists = unit.file->section(DwarfSection::kLoclists);
      uint64_t header = unit.format.offset_size == 8 ? 20 : 12;
      uint64_t base = unit.loclists_share + unit.loclists_base.value_or(header);
      if (location.number > UINT32_MAX) return;
      ByteCursor in = cursor_at(lists, base + location.number * unit.format.offset_size, order);
      uint64_t offset = base + (unit.format.offset_size == 8 ? in.u64() : in.u32());
      if (in.ok()) reader.read_entries(cursor_at(lists, offset, order));
      return;
    }
    case DW_FORM_sec_offset:
    case DW_FORM_data4:
    case DW_FORM_data8:
      if (unit.format.version >= 5)
        reader.read_entries(cursor_at(unit.file->section(DwarfSection::kLoclists),
                                      unit.loclists_share + location.number, order));
      else if (unit.skeleton == nullptr)
        reader.read_pairs(
            cursor_at(unit.file->section(DwarfSection::kLoc), location.number, order));
      return;
    default:
      return;
  }
}

}  // namespace sonde
