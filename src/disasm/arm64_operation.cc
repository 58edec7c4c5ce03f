#include "disasm/arm64_operation.h"

#include <span>

#include "disasm/capstone_library.h"

namespace sonde::disasm {
namespace {

constexpr uint8_t kStackPointer = 31;

bool is_word(arm64_reg reg) {
  return reg == ARM64_REG_WSP || (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30);
}

/// DWARF's number; half registers have that of the whole, zero and vector registers none.
uint8_t dwarf_number(arm64_reg reg) {
  if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) return static_cast<uint8_t>(reg - ARM64_REG_X0);
  if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) return static_cast<uint8_t>(reg - ARM64_REG_W0);
  if (reg == ARM64_REG_X29) return 29;
  if (reg == ARM64_REG_X30) return 30;
  if (reg == ARM64_REG_SP || reg == ARM64_REG_WSP) return kStackPointer;
  return kNoRegister;
}

/// The size in bytes of a register being loaded or stored.
uint32_t register_size(arm64_reg reg) {
  if (is_word(reg) || reg == ARM64_REG_WZR || (reg >= ARM64_REG_S0 && reg <= ARM64_REG_S31))
    return 4;
  if (reg >= ARM64_REG_Q0 && reg <= ARM64_REG_Q31) return 16;
  if (reg >= ARM64_REG_H0 && reg <= ARM64_REG_H31) return 2;
  if (reg >= ARM64_REG_B0 && reg <= ARM64_REG_B31) return 1;
  return 8;
}

class Arm64Reader {
 public:
  explicit Arm64Reader(const cs_insn& instruction)
      : i_(instruction),
        detail_(instruction.detail->arm64),
        operands_(detail_.operands, detail_.op_count) {}

  Operation read() {
    out_.length = 4;
    read_flow();
    if (std::string_view name = i_.mnemonic; name.starts_with("ld") || name.starts_with("st") ||
                                             name.starts_with("prf") || name.starts_with("cas") ||
                                             name.starts_with("swp"))
      read_access(name);
    else
      read_arithmetic();
    return out_;
  }

 private:
  void read_flow() {
    switch (i_.id) {
      case ARM64_INS_BL:
      case ARM64_INS_BLR:
        out_.flow = Flow::kCall;
        break;
      case ARM64_INS_RET:
      case ARM64_INS_BRK:
        out_.flow = Flow::kReturn;
        break;
      case ARM64_INS_B:
        out_.flow = Flow::kJump;
        out_.is_conditional = detail_.cc != ARM64_CC_INVALID && detail_.cc != ARM64_CC_AL;
        break;
      case ARM64_INS_BR:
        out_.flow = Flow::kJump;
        break;
      case ARM64_INS_CBZ:
      case ARM64_INS_CBNZ:
      case ARM64_INS_TBZ:
      case ARM64_INS_TBNZ:
        out_.flow = Flow::kJump;
        out_.is_conditional = true;
        break;
      default:
        return;
    }
    if (!operands_.empty() && operands_.back().type == ARM64_OP_IMM)
      out_.target = static_cast<uint64_t>(operands_.back().imm);
  }

  [[nodiscard]] bool is_register(size_t i) const {
    return i < operands_.size() && operands_[i].type == ARM64_OP_REG;
  }
  [[nodiscard]] bool is_whole(size_t i) const {
    return is_register(i) && !is_word(operands_[i].reg) &&
           dwarf_number(operands_[i].reg) != kNoRegister;
  }
  void writes(size_t i) {
    if (!is_register(i)) return;
    uint8_t reg = dwarf_number(operands_[i].reg);
    if (reg != kNoRegister) out_.written |= uint64_t{1} << reg;
  }

  void read_access(std::string_view name) {
    bool loads = name.starts_with("ld");
    bool stores = name.starts_with("st");
    MemoryOperand memory;
    memory.is_read = !stores;
    memory.is_written = !loads;
    size_t at = 0;
    while (at < operands_.size() && operands_[at].type != ARM64_OP_MEM) {
      if (!stores) writes(at);
      ++at;
    }
    bool is_literal = at == operands_.size() && at > 0 && operands_[at - 1].type == ARM64_OP_IMM;
    if (at == operands_.size() && !is_literal) return;
    bool is_pair = name.starts_with("ldp") || name.starts_with("stp") || name.starts_with("ldnp") ||
                   name.starts_with("stnp");
    memory.size = access_size(name);
    if (is_literal) {
      memory.address = static_cast<uint64_t>(operands_[at - 1].imm);
    } else {
      const cs_arm64_op& operand = operands_[at];
      memory.base = dwarf_number(operand.mem.base);
      memory.displacement = operand.mem.disp;
      if (operand.mem.index != ARM64_REG_INVALID) {
        memory.index = dwarf_number(operand.mem.index);
        memory.scale = static_cast<uint8_t>(1u << (operand.shift.value & 7));
      }
      read_writeback(at, memory);
    }
    bool moves = is_whole(0) && memory.size == 8 &&
                 (name.starts_with("ldr") || name.starts_with("ldp") || name.starts_with("ldur") ||
                  name.starts_with("str") || name.starts_with("stp") || name.starts_with("stur"));
    out_.memory = memory;
    if (!moves) return;
    out_.move = loads ? DataMove::kLoad : DataMove::kStore;
    (loads ? out_.to : out_.from) = dwarf_number(operands_[0].reg);
    if (is_pair && is_whole(1)) out_.second = dwarf_number(operands_[1].reg);
  }

  void read_writeback(size_t at, MemoryOperand& memory) {
    bool is_post = at + 1 < operands_.size() && operands_[at + 1].type == ARM64_OP_IMM;
    if (!detail_.writeback && !is_post) return;
    out_.base_after = is_post;
    out_.base_change = is_post ? operands_[at + 1].imm : memory.displacement;
    if (!is_post) memory.displacement = 0;
    // stp x29, x30, [sp, #-32]! and the like save and restore registers.
    out_.is_stack = memory.base == kStackPointer;
  }

  /// "ldrb", "ldursh", "stxrb": the suffix gives the size; for others the register does.
  [[nodiscard]] uint32_t access_size(std::string_view name) const {
    if (name.starts_with("prf")) return 0;
    if (name.ends_with("b")) return 1;
    if (name.ends_with("h")) return 2;
    if (name.ends_with("sw")) return 4;
    // In an exclusive store, the status register comes before the value.
    size_t value = name.starts_with("stx") || name.starts_with("stlx") ? 1 : 0;
    return is_register(value) ? register_size(operands_[value].reg) : 0;
  }

  void read_arithmetic() {
    if (out_.flow != Flow::kOn) return;
    bool compares = i_.id == ARM64_INS_CMP || i_.id == ARM64_INS_CMN || i_.id == ARM64_INS_TST ||
                    i_.id == ARM64_INS_CCMP || i_.id == ARM64_INS_NOP;
    if (compares || !is_register(0)) return;
    writes(0);
    if (!is_whole(0)) {
      if (i_.id == ARM64_INS_MOV && operands_.size() == 2) read_constant();
      return;
    }
    switch (i_.id) {
      case ARM64_INS_MOV:
        if (is_whole(1))
          set(DataMove::kCopy, 1);
        else
          read_constant();
        return;
      case ARM64_INS_MOVZ:
        return read_constant();
      case ARM64_INS_ADR:
      case ARM64_INS_ADRP:
        return read_constant();
      case ARM64_INS_ADD:
      case ARM64_INS_SUB:
        return read_sum(i_.id == ARM64_INS_SUB);
      case ARM64_INS_CSEL:
        if (is_whole(1) && is_whole(2)) {
          set(DataMove::kSelect, 1);
          out_.other = dwarf_number(operands_[2].reg);
        }
        return;
      default:
        return;
    }
  }

  void set(DataMove move, size_t from) {
    out_.move = move;
    out_.to = dwarf_number(operands_[0].reg);
    out_.from = dwarf_number(operands_[from].reg);
  }
  void read_constant() {
    out_.to = dwarf_number(operands_[0].reg);
    bool is_zero =
        is_register(1) && (operands_[1].reg == ARM64_REG_XZR || operands_[1].reg == ARM64_REG_WZR);
    bool is_number = operands_.size() >= 2 && operands_[1].type == ARM64_OP_IMM;
    if (out_.to == kNoRegister || (!is_zero && !is_number)) return;
    out_.move = DataMove::kConstant;
    out_.value = is_number ? operands_[1].imm << (operands_[1].shift.value & 63) : 0;
  }
  void read_sum(bool subtracts) {
    if (!is_whole(1) || operands_.size() < 3) return;
    if (operands_[2].type == ARM64_OP_IMM) {
      set(DataMove::kAdd, 1);
      auto value = static_cast<uint64_t>(operands_[2].imm) << (operands_[2].shift.value & 63);
      out_.value = static_cast<int64_t>(subtracts ? 0 - value : value);
    } else if (is_register(2)) {
      set(subtracts ? DataMove::kSubtract : DataMove::kAdd, 1);
      bool is_scaled = operands_[2].shift.value != 0 || !is_whole(2);
      out_.other = is_scaled ? kUnknownNumber : dwarf_number(operands_[2].reg);
    }
  }

  const cs_insn& i_;
  const cs_arm64& detail_;
  std::span<const cs_arm64_op> operands_;
  Operation out_;
};

}  // namespace

Result<Arm64Operations> Arm64Operations::make() {
  return Arm64Operations(TRY(open_arm64()));
}

Operation Arm64Operations::decode(Bytes bytes, uint64_t address) const {
  constexpr size_t kLength = 4;
  if (bytes.size() < kLength) return {};
  const CapstoneLibrary& library = *handle_.get_deleter().library;
  cs_insn* found = nullptr;
  const auto* code = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t count = library.disasm(*handle_, code, kLength, address, 1, &found);
  // An unknown instruction: treated as one that writes nothing.
  if (count == 0) {
    Operation unknown;
    unknown.length = kLength;
    return unknown;
  }
  Operation operation = Arm64Reader(*found).read();
  library.free(found, count);
  return operation;
}

}  // namespace sonde::disasm
