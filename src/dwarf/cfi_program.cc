#include "dwarf/cfi_program.h"

#include <dwarf.h>

#include "elf/leb128.h"

namespace sonde {
namespace {

// DWARF for the Arm 64-bit Architecture calls it DW_CFA_AARCH64_negate_ra_state; it shares its
// number with SPARC's DW_CFA_GNU_window_save.
constexpr uint8_t kNegateReturnState = 0x2d;

}  // namespace

bool CfiProgram::run_initial() {
  state_ = {};
  remembered_.clear();
  ByteCursor in(common_.program, order_);
  while (in.left() > 0)
    if (execute(in) != Step::kSame || !in.ok()) return false;
  initial_ = state_;
  return true;
}

void CfiProgram::set(uint64_t reg, SavedAs how, int64_t value, Bytes expression) {
  if (reg >= kUnwindRegisters) return;
  state_.registers[reg] = {how, value, expression};
  state_.touched |= uint64_t{1} << reg;
}

void CfiProgram::restore(uint64_t reg) {
  if (reg >= kUnwindRegisters) return;
  state_.registers[reg] = initial_.registers[reg];
  uint64_t bit = uint64_t{1} << reg;
  state_.touched = (state_.touched & ~bit) | (initial_.touched & bit);
}

CfiProgram::Step CfiProgram::move_by(uint64_t delta) {
  next_ = address_ + delta;
  return delta == 0 ? Step::kSame : Step::kMoved;
}

CfiProgram::Step CfiProgram::execute(ByteCursor& in) {
  uint8_t opcode = in.u8();
  uint8_t operand = opcode & 0x3f;
  switch (opcode & 0xc0) {
    case DW_CFA_advance_loc:
      return move_by(operand * common_.code_alignment);
    case DW_CFA_offset:
      set(operand, SavedAs::kAtCfa, static_cast<int64_t>(uleb128(in)) * common_.data_alignment);
      return Step::kSame;
    case DW_CFA_restore:
      restore(operand);
      return Step::kSame;
    default:
      return execute_extended(in, opcode);
  }
}

CfiProgram::Step CfiProgram::execute_extended(ByteCursor& in, uint8_t opcode) {
  uint64_t reg = 0;
  switch (opcode) {
    case DW_CFA_nop:
      break;
    case DW_CFA_advance_loc1:
      return move_by(in.u8() * common_.code_alignment);
    case DW_CFA_advance_loc2:
      return move_by(in.u16() * common_.code_alignment);
    case DW_CFA_advance_loc4:
      return move_by(in.u32() * common_.code_alignment);
    case DW_CFA_offset_extended:
      reg = uleb128(in);
      set(reg, SavedAs::kAtCfa, static_cast<int64_t>(uleb128(in)) * common_.data_alignment);
      break;
    case DW_CFA_offset_extended_sf:
      reg = uleb128(in);
      set(reg, SavedAs::kAtCfa, sleb128(in) * common_.data_alignment);
      break;
    case DW_CFA_GNU_negative_offset_extended:
      reg = uleb128(in);
      set(reg, SavedAs::kAtCfa, -static_cast<int64_t>(uleb128(in)) * common_.data_alignment);
      break;
    case DW_CFA_val_offset:
      reg = uleb128(in);
      set(reg, SavedAs::kCfaPlus, static_cast<int64_t>(uleb128(in)) * common_.data_alignment);
      break;
    case DW_CFA_val_offset_sf:
      reg = uleb128(in);
      set(reg, SavedAs::kCfaPlus, sleb128(in) * common_.data_alignment);
      break;
    case DW_CFA_restore_extended:
      restore(uleb128(in));
      break;
    case DW_CFA_undefined:
      set(uleb128(in), SavedAs::kUndefined, 0);
      break;
    case DW_CFA_same_value:
      set(uleb128(in), SavedAs::kSame, 0);
      break;
    case DW_CFA_register: {
      reg = uleb128(in);
      uint64_t other = uleb128(in);
      if (other >= kUnwindRegisters) return Step::kBad;
      set(reg, SavedAs::kInRegister, static_cast<int64_t>(other));
      break;
    }
    case DW_CFA_remember_state:
      if (remembered_.size() == kMaxNesting) return Step::kBad;
      remembered_.push_back(state_);
      break;
    case DW_CFA_restore_state:
      if (remembered_.empty()) return Step::kBad;
      state_ = remembered_.back();
      remembered_.pop_back();
      break;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
      reg = uleb128(in);
      if (reg >= kUnwindRegisters) return Step::kBad;
      state_.cfa_from = CfaFrom::kRegister;
      state_.cfa_register = static_cast<uint8_t>(reg);
      state_.cfa_offset = opcode == DW_CFA_def_cfa ? static_cast<int64_t>(uleb128(in))
                                                   : sleb128(in) * common_.data_alignment;
      break;
    case DW_CFA_def_cfa_register:
      reg = uleb128(in);
      if (reg >= kUnwindRegisters || state_.cfa_from != CfaFrom::kRegister) return Step::kBad;
      state_.cfa_register = static_cast<uint8_t>(reg);
      break;
    case DW_CFA_def_cfa_offset:
      state_.cfa_offset = static_cast<int64_t>(uleb128(in));
      break;
    case DW_CFA_def_cfa_offset_sf:
      state_.cfa_offset = sleb128(in) * common_.data_alignment;
      break;
    case DW_CFA_GNU_args_size:
      uleb128(in);
      break;
    case kNegateReturnState:
      if (!is_arm64_) return Step::kBad;
      state_.signs_return = !state_.signs_return;
      break;
    default:
      return execute_block(in, opcode);
  }
  return Step::kSame;
}

/// Instructions with an expression.
CfiProgram::Step CfiProgram::execute_block(ByteCursor& in, uint8_t opcode) {
  if (opcode == DW_CFA_def_cfa_expression) {
    state_.cfa_from = CfaFrom::kExpression;
    state_.cfa_expression = in.take(uleb128(in));
    return Step::kSame;
  }
  if (opcode != DW_CFA_expression && opcode != DW_CFA_val_expression) return Step::kBad;
  uint64_t reg = uleb128(in);
  Bytes expression = in.take(uleb128(in));
  set(reg, opcode == DW_CFA_expression ? SavedAs::kExpression : SavedAs::kValueExpression, 0,
      expression);
  return Step::kSame;
}

}  // namespace sonde
