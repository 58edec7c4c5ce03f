#include "disasm/x86_operation.h"

#include <array>
#include <span>

namespace sonde::disasm {
namespace {

/// Decodes one instruction.
class X86Reader {
 public:
  X86Reader(const ZydisDecodedInstruction& instruction,
            std::span<const ZydisDecodedOperand> operands, uint64_t address, bool is_64_bit)
      : i_(instruction), operands_(operands), address_(address), is_64_bit_(is_64_bit) {}

  Operation read() {
    out_.length = i_.length;
    read_flow();
    read_written();
    read_memory();
    read_move();
    return out_;
  }

 private:
  [[nodiscard]] uint16_t pointer_bits() const { return is_64_bit_ ? 64 : 32; }

  /// DWARF's number of the register that contains this one; vector registers have none here.
  [[nodiscard]] uint8_t number(ZydisRegister reg) const {
    // rax rcx rdx rbx rsp rbp rsi rdi, as instructions encode them
    constexpr std::array<uint8_t, 8> kNumbers64 = {0, 2, 1, 3, 7, 6, 4, 5};
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(
        is_64_bit_ ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32, reg);
    ZydisRegister first = is_64_bit_ ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX;
    if (whole < first || whole >= first + (is_64_bit_ ? 16 : 8)) return kNoRegister;
    auto encoded = static_cast<uint8_t>(whole - first);
    return is_64_bit_ && encoded < 8 ? kNumbers64[encoded] : encoded;
  }

  void read_flow() {
    switch (i_.meta.category) {
      case ZYDIS_CATEGORY_CALL:
        out_.flow = Flow::kCall;
        break;
      case ZYDIS_CATEGORY_RET:
        out_.flow = Flow::kReturn;
        break;
      case ZYDIS_CATEGORY_COND_BR:
        out_.flow = Flow::kJump;
        out_.is_conditional = true;
        break;
      case ZYDIS_CATEGORY_UNCOND_BR:
        out_.flow = Flow::kJump;
        break;
      default:
        if (i_.mnemonic == ZYDIS_MNEMONIC_UD2 || i_.mnemonic == ZYDIS_MNEMONIC_HLT)
          out_.flow = Flow::kReturn;
        return;
    }
    for (const ZydisDecodedOperand& operand : operands_) {
      uint64_t target = 0;
      if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative &&
          ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&i_, &operand, address_, &target)))
        out_.target = target;
    }
  }

  void read_written() {
    for (const ZydisDecodedOperand& operand : operands_) {
      if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
          (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
        continue;
      uint8_t reg = number(operand.reg.value);
      if (reg != kNoRegister) out_.written |= uint64_t{1} << reg;
    }
  }

  void read_memory() {
    bool is_nothing =
        i_.meta.category == ZYDIS_CATEGORY_NOP || i_.meta.category == ZYDIS_CATEGORY_WIDENOP;
    switch (i_.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH:
      case ZYDIS_MNEMONIC_POP:
      case ZYDIS_MNEMONIC_LEAVE:
      case ZYDIS_MNEMONIC_PUSHFQ:
      case ZYDIS_MNEMONIC_POPFQ:
        out_.is_stack = true;
        break;
      default:
        out_.is_stack = out_.flow == Flow::kCall || out_.flow == Flow::kReturn;
        break;
    }
    for (const ZydisDecodedOperand& operand : operands_) {
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || is_nothing || out_.memory) continue;
      bool is_implied = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
      if (out_.is_stack && is_implied) continue;
      read_operand(operand);
    }
  }

  void read_operand(const ZydisDecodedOperand& operand) {
    const ZydisDecodedOperandMem& mem = operand.mem;
    MemoryOperand memory;
    memory.displacement = mem.disp.has_displacement ? mem.disp.value : 0;
    memory.size = operand.size / 8;
    if (mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
      memory.is_read = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
      memory.is_written = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    }
    memory.of_thread = mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS;
    if (mem.base == ZYDIS_REGISTER_RIP)
      memory.address = address_ + i_.length + static_cast<uint64_t>(memory.displacement);
    else if (mem.base == ZYDIS_REGISTER_NONE)
      memory.address = static_cast<uint64_t>(memory.displacement);
    else
      memory.base = number(mem.base);
    if (mem.index != ZYDIS_REGISTER_NONE) {
      memory.index = number(mem.index);
      memory.scale = mem.scale == 0 ? 1 : mem.scale;
    }
    out_.memory = memory;
  }

  void read_move() {
    switch (i_.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        return read_mov();
      case ZYDIS_MNEMONIC_LEA:
        return to_register(0, DataMove::kAddress);
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB:
        return read_sum(i_.mnemonic == ZYDIS_MNEMONIC_SUB);
      case ZYDIS_MNEMONIC_INC:
      case ZYDIS_MNEMONIC_DEC:
        to_register(0, DataMove::kAdd);
        out_.from = out_.to;
        out_.value = i_.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return;
      case ZYDIS_MNEMONIC_XOR:
        if (is_register(0) && is_register(1) && operands_[0].reg.value == operands_[1].reg.value)
          to_constant(0);
        return;
      case ZYDIS_MNEMONIC_PUSH:
        out_.stack_change = -(operands_[0].size == 16 ? 2 : pointer_bits() / 8);
        return;
      case ZYDIS_MNEMONIC_POP:
        out_.stack_change = operands_[0].size == 16 ? 2 : pointer_bits() / 8;
        return;
      case ZYDIS_MNEMONIC_LEAVE:
        out_.move = DataMove::kLeave;
        out_.to = number(is_64_bit_ ? ZYDIS_REGISTER_RSP : ZYDIS_REGISTER_ESP);
        out_.from = number(is_64_bit_ ? ZYDIS_REGISTER_RBP : ZYDIS_REGISTER_EBP);
        return;
      default:
        if (i_.meta.category == ZYDIS_CATEGORY_CMOV && is_register(1) && is_whole(1)) {
          to_register(0, DataMove::kSelect);
          out_.from = number(operands_[1].reg.value);
        }
        return;
    }
  }

  void read_mov() {
    if (is_register(0) && is_register(1) && is_whole(1)) {
      to_register(0, DataMove::kCopy);
      out_.from = number(operands_[1].reg.value);
    } else if (is_register(0) && operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      if (operands_[0].size >= 32) to_constant(static_cast<int64_t>(operands_[1].imm.value.u));
    } else if (is_register(0) && operands_[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
      to_register(0, DataMove::kLoad);
    } else if (operands_[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
      out_.move = DataMove::kStore;
      if (is_register(1) && is_whole(1)) out_.from = number(operands_[1].reg.value);
    }
  }

  void read_sum(bool subtracts) {
    if (!is_register(0) || !is_whole(0)) return;
    if (operands_[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      to_register(0, DataMove::kAdd);
      auto value = static_cast<uint64_t>(operands_[1].imm.value.s);
      out_.value = static_cast<int64_t>(subtracts ? 0 - value : value);
    } else {
      to_register(0, subtracts ? DataMove::kSubtract : DataMove::kAdd);
      // What is added from memory is a number.
      out_.other = is_register(1) ? number(operands_[1].reg.value) : kUnknownNumber;
    }
    out_.from = out_.to;
  }

  [[nodiscard]] bool is_register(size_t operand) const {
    return operand < operands_.size() && operands_[operand].type == ZYDIS_OPERAND_TYPE_REGISTER;
  }
  [[nodiscard]] bool is_whole(size_t operand) const {
    return operands_[operand].size == pointer_bits();
  }

  /// Only whole registers are tracked; anything else written is lost.
  void to_register(size_t operand, DataMove move) {
    if (!is_register(operand) || !is_whole(operand)) return;
    out_.to = number(operands_[operand].reg.value);
    if (out_.to != kNoRegister) out_.move = move;
  }
  void to_constant(int64_t value) {
    out_.to = number(operands_[0].reg.value);
    out_.value = value;
    if (out_.to != kNoRegister) out_.move = DataMove::kConstant;
  }

  const ZydisDecodedInstruction& i_;
  std::span<const ZydisDecodedOperand> operands_;
  uint64_t address_;
  bool is_64_bit_;
  Operation out_;
};

}  // namespace

X86Operations::X86Operations(bool is_64_bit) : is_64_bit_(is_64_bit) {
  if (is_64_bit)
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  else
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
}

Operation X86Operations::decode(Bytes bytes, uint64_t address) const {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  auto status =
      ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &instruction, operands.data());
  if (!ZYAN_SUCCESS(status)) return {};
  return X86Reader(instruction, std::span(operands).first(instruction.operand_count), address,
                   is_64_bit_)
      .read();
}

}  // namespace sonde::disasm
