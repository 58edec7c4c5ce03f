#include "disasm/x86_text.h"

#include <fmt/format.h>

#include "disasm/x86_prefixes.h"
#include "disasm/x86_spelling.h"

namespace sonde::disasm {
namespace {

constexpr std::string_view kSizes[] = {"BYTE", "WORD", "DWORD", "QWORD"};

class Writer {
 public:
  Writer(const X86Decoded& decoded, Syntax syntax, Instruction& out)
      : decoded_(decoded),
        i_(decoded.instruction),
        is_att_(syntax == Syntax::kAtt),
        syntax_(syntax),
        result_(out),
        out_(out.text) {}

  void write() {
    append_prefixes(decoded_, out_);
    size_t prefixes = out_.size();
    if (std::string text = x86_string_instruction(i_, syntax_); !text.empty()) {
      if (prefixes > 0) squeeze(text);
      out_ += text;
      return;
    }
    Spelling spelling = x86_name(decoded_, syntax_);
    out_ += spelling.name;
    append_branch_hint();
    size_t count = decoded_.operands.size() - (spelling.drops_immediate ? 1 : 0);
    size_t operands = out_.size();
    append_operands(count);
    if (out_.size() == operands) return;
    constexpr size_t kNameWidth = 6;
    size_t padding = operands < kNameWidth ? kNameWidth - operands : 0;
    out_.insert(operands, padding + 1, ' ');
    if (pc_relative_) result_.target = pc_relative_;
  }

 private:
  /// A name after a prefix is not padded.
  static void squeeze(std::string& text) {
    size_t space = text.find(' ');
    size_t end = text.find_first_not_of(' ', space);
    text.erase(space, end - space - 1);
  }

  void append_branch_hint() {
    if (i_.attributes & ZYDIS_ATTRIB_HAS_BRANCH_NOT_TAKEN) out_ += ",pn";
    if (i_.attributes & ZYDIS_ATTRIB_HAS_BRANCH_TAKEN) out_ += ",pt";
  }

  void append_operands(size_t count) {
    bool is_first = true;
    auto separate = [&] {
      if (!is_first) out_ += ',';
      is_first = false;
    };
    // Its mask is always the same register.
    if (i_.mnemonic == ZYDIS_MNEMONIC_SHA256RNDS2 && is_att_) {
      separate();
      append_register(ZYDIS_REGISTER_XMM0);
    }
    bool in_order =
        !is_att_ || i_.mnemonic == ZYDIS_MNEMONIC_ENTER || i_.mnemonic == ZYDIS_MNEMONIC_BOUND;
    if (is_att_ && !rounding().empty() && !rounding_follows_immediate(count)) {
      separate();
      out_ += rounding();
    }
    for (size_t n = 0; n < count; ++n) {
      size_t index = in_order ? n : count - 1 - n;
      const ZydisDecodedOperand& operand = decoded_.operands[index];
      if (is_omitted(operand)) continue;
      separate();
      append_operand(operand);
      if (index == 0) append_mask();
      if (is_att_ && n == 0 && !rounding().empty() && rounding_follows_immediate(count)) {
        separate();
        out_ += rounding();
      }
    }
    if (i_.mnemonic == ZYDIS_MNEMONIC_SHA256RNDS2 && !is_att_) {
      separate();
      append_register(ZYDIS_REGISTER_XMM0);
    }
    if (!is_att_ && !rounding().empty()) {
      separate();
      out_ += rounding();
    }
  }
  [[nodiscard]] bool rounding_follows_immediate(size_t count) const {
    return count > 0 && decoded_.operands[count - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  }

  /// What the opcode alone implies: the 1 of a shift, the mask of a vector (which is printed after
  /// its operand).
  [[nodiscard]] bool is_omitted(const ZydisDecodedOperand& operand) const {
    if (operand.encoding == ZYDIS_OPERAND_ENCODING_MASK) return true;
    if (is_att_ && operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        operand.encoding == ZYDIS_OPERAND_ENCODING_NONE)
      return true;
    if (i_.mnemonic == ZYDIS_MNEMONIC_NOP && operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG)
      return true;
    return is_implied_st0(operand);
  }
  /// x87 instructions with a single operand.
  [[nodiscard]] bool is_implied_st0(const ZydisDecodedOperand& operand) const {
    if (i_.meta.isa_ext != ZYDIS_ISA_EXT_X87 || operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
        operand.reg.value != ZYDIS_REGISTER_ST0 || operand.encoding != ZYDIS_OPERAND_ENCODING_NONE)
      return false;
    if (memory_operand(decoded_) != nullptr) return true;
    switch (i_.mnemonic) {
      case ZYDIS_MNEMONIC_FLD:
      case ZYDIS_MNEMONIC_FST:
      case ZYDIS_MNEMONIC_FSTP:
      case ZYDIS_MNEMONIC_FXCH:
      case ZYDIS_MNEMONIC_FCOM:
      case ZYDIS_MNEMONIC_FCOMP:
      case ZYDIS_MNEMONIC_FUCOM:
      case ZYDIS_MNEMONIC_FUCOMP:
      case ZYDIS_MNEMONIC_FFREE:
      case ZYDIS_MNEMONIC_FFREEP:
        return true;
      default:
        return has_no_other_operand();
    }
  }
  [[nodiscard]] bool has_no_other_operand() const {
    for (const ZydisDecodedOperand& operand : decoded_.operands)
      if (operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM) return false;
    return true;
  }

  void append_operand(const ZydisDecodedOperand& operand) {
    switch (operand.type) {
      case ZYDIS_OPERAND_TYPE_REGISTER:
        if (is_indirect_branch()) out_ += '*';
        if (is_port(operand)) {
          out_ += is_att_ ? "(%dx)" : "dx";
          return;
        }
        return append_register(operand);
      case ZYDIS_OPERAND_TYPE_MEMORY:
        if (is_indirect_branch()) out_ += '*';
        return append_memory(operand);
      case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        return append_immediate(operand);
      case ZYDIS_OPERAND_TYPE_POINTER:
        append("{}0x{:x}{}{}0x{:x}", is_att_ ? "$" : "", operand.ptr.segment, is_att_ ? "," : ":",
               is_att_ ? "$" : "", operand.ptr.offset);
        return;
      default:
        return;
    }
  }
  [[nodiscard]] bool is_indirect_branch() const {
    return is_att_ && (i_.mnemonic == ZYDIS_MNEMONIC_CALL || i_.mnemonic == ZYDIS_MNEMONIC_JMP);
  }
  [[nodiscard]] bool is_port(const ZydisDecodedOperand& operand) const {
    return (i_.mnemonic == ZYDIS_MNEMONIC_IN || i_.mnemonic == ZYDIS_MNEMONIC_OUT) &&
           operand.reg.value == ZYDIS_REGISTER_DX;
  }

  void append_register(const ZydisDecodedOperand& operand) {
    ZydisRegister value = operand.reg.value;
    if (is_att_) out_ += '%';
    if (ZYDIS_REGISTER_ST0 <= value && value <= ZYDIS_REGISTER_ST7) {
      bool is_fixed = operand.encoding == ZYDIS_OPERAND_ENCODING_NONE;
      if (is_fixed)
        out_ += "st";
      else
        append("st({})", static_cast<int>(value) - ZYDIS_REGISTER_ST0);
      return;
    }
    out_ += ZydisRegisterGetString(value);
  }
  void append_register(ZydisRegister value) {
    if (is_att_) out_ += '%';
    out_ += ZydisRegisterGetString(value);
  }

  void append_mask() {
    const auto& mask = i_.avx.mask;
    if (i_.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX) return;
    if (mask.reg != ZYDIS_REGISTER_NONE && mask.reg != ZYDIS_REGISTER_K0) {
      out_ += '{';
      append_register(mask.reg);
      out_ += '}';
    }
    if (i_.raw.evex.z != 0) out_ += "{z}";
  }

  [[nodiscard]] std::string_view rounding() const {
    switch (i_.avx.rounding.mode) {
      case ZYDIS_ROUNDING_MODE_RN:
        return "{rn-sae}";
      case ZYDIS_ROUNDING_MODE_RD:
        return "{rd-sae}";
      case ZYDIS_ROUNDING_MODE_RU:
        return "{ru-sae}";
      case ZYDIS_ROUNDING_MODE_RZ:
        return "{rz-sae}";
      default:
        return i_.avx.has_sae ? "{sae}" : "";
    }
  }

  // Immediates.

  void append_immediate(const ZydisDecodedOperand& operand) {
    if (operand.imm.is_relative) {
      uint64_t target = cut(decoded_.address + i_.length + operand.imm.value.u, pointer_bits());
      append("{:x}", target);
      pc_relative_ = target;
      return;
    }
    unsigned bits = operand.imm.is_signed ? immediate_bits() : 64;
    if (operand.encoding == ZYDIS_OPERAND_ENCODING_NONE)
      out_ += '1';
    else
      append("{}0x{:x}", is_att_ ? "$" : "", cut(operand.imm.value.u, bits));
  }
  [[nodiscard]] unsigned immediate_bits() const {
    return i_.operand_width != 0 ? i_.operand_width : pointer_bits();
  }
  [[nodiscard]] unsigned pointer_bits() const {
    return i_.machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? 64 : 32;
  }
  static uint64_t cut(uint64_t value, unsigned bits) {
    return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
  }

  // Memory.

  void append_memory(const ZydisDecodedOperand& operand) {
    if (is_att_)
      append_att_memory(operand);
    else
      append_intel_memory(operand);
    if (is_att_) append_broadcast();
  }
  [[nodiscard]] bool has_shown_segment() const {
    constexpr uint64_t kFsGs = ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS;
    uint64_t shown =
        i_.machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? kFsGs : ZYDIS_ATTRIB_HAS_SEGMENT;
    return (i_.attributes & shown) != 0;
  }
  /// The displacement is present, even if it is zero.
  [[nodiscard]] bool has_displacement() const { return i_.raw.disp.size != 0; }
  [[nodiscard]] bool is_absolute(const ZydisDecodedOperand& operand) const {
    return operand.mem.base == ZYDIS_REGISTER_NONE && operand.mem.index == ZYDIS_REGISTER_NONE;
  }
  [[nodiscard]] static bool is_program_counter(ZydisRegister value) {
    return value == ZYDIS_REGISTER_RIP || value == ZYDIS_REGISTER_EIP;
  }
  /// A SIB byte without an index, where the base alone would not have needed one.
  [[nodiscard]] bool shows_no_index(const ZydisDecodedOperand& operand) const {
    if ((i_.attributes & ZYDIS_ATTRIB_HAS_SIB) == 0 || operand.mem.index != ZYDIS_REGISTER_NONE ||
        operand.mem.base == ZYDIS_REGISTER_NONE)
      return false;
    return (i_.raw.sib.base & 7) != 4 || i_.raw.sib.scale != 0;
  }
  [[nodiscard]] unsigned scale_of(const ZydisDecodedOperand& operand) const {
    return operand.mem.index != ZYDIS_REGISTER_NONE ? operand.mem.scale : 1u << i_.raw.sib.scale;
  }
  void append_index(const ZydisDecodedOperand& operand) {
    if (operand.mem.index != ZYDIS_REGISTER_NONE) {
      append_register(operand.mem.index);
    } else {
      if (is_att_) out_ += '%';
      out_ += i_.address_width == 64 ? "riz" : "eiz";
    }
  }

  void append_att_memory(const ZydisDecodedOperand& operand) {
    const auto& memory = operand.mem;
    if (has_shown_segment()) {
      append_register(memory.segment);
      out_ += ':';
    }
    if (is_absolute(operand)) {
      append("0x{:x}", cut(static_cast<uint64_t>(memory.disp.value), i_.address_width));
      return;
    }
    if (has_displacement()) append_displacement(operand);
    out_ += '(';
    if (memory.base != ZYDIS_REGISTER_NONE) append_register(memory.base);
    if (memory.index != ZYDIS_REGISTER_NONE || shows_no_index(operand)) {
      out_ += ',';
      append_index(operand);
      if (i_.address_width != 16) append(",{}", scale_of(operand));
    }
    out_ += ')';
  }
  void append_displacement(const ZydisDecodedOperand& operand) {
    int64_t value = operand.mem.disp.value;
    if (is_program_counter(operand.mem.base))
      pc_relative_ =
          cut(decoded_.address + i_.length + static_cast<uint64_t>(value), i_.address_width);
    if (!is_att_ && is_program_counter(operand.mem.base))
      append("0x{:x}", static_cast<uint64_t>(value));
    else if (value < 0)
      append("-0x{:x}", uint64_t{0} - static_cast<uint64_t>(value));
    else
      append("0x{:x}", value);
  }

  void append_intel_memory(const ZydisDecodedOperand& operand) {
    const auto& memory = operand.mem;
    append_intel_size(operand);
    if (has_shown_segment()) {
      append_register(memory.segment);
      out_ += ':';
    }
    if (is_absolute(operand)) {
      if (!has_shown_segment()) out_ += "ds:";
      append("0x{:x}", cut(static_cast<uint64_t>(memory.disp.value), i_.address_width));
      return;
    }
    out_ += '[';
    if (memory.base != ZYDIS_REGISTER_NONE) append_register(memory.base);
    if (memory.index != ZYDIS_REGISTER_NONE || shows_no_index(operand)) {
      if (memory.base != ZYDIS_REGISTER_NONE) out_ += '+';
      append_index(operand);
      if (i_.address_width != 16) append("*{}", scale_of(operand));
    }
    if (has_displacement()) {
      if (operand.mem.disp.value >= 0 || is_program_counter(memory.base)) out_ += '+';
      append_displacement(operand);
    }
    out_ += ']';
  }
  void append_intel_size(const ZydisDecodedOperand& operand) {
    if (i_.raw.disp.size == 64) return;  // movabs
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN && i_.mnemonic == ZYDIS_MNEMONIC_LEA) return;
    if (i_.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !i_.avx.broadcast.is_static) {
      append("{} BCST ", operand.element_size == 64   ? "QWORD"
                         : operand.element_size == 16 ? "WORD"
                                                      : "DWORD");
      return;
    }
    switch (operand.size) {
      case 8:
      case 16:
      case 32:
      case 64:
        append("{} PTR ", kSizes[std::countr_zero(operand.size) - 3]);
        return;
      case 48:
        out_ += "FWORD PTR ";
        return;
      case 80:
        out_ += "TBYTE PTR ";
        return;
      case 128:
        out_ += "XMMWORD PTR ";
        return;
      case 256:
        out_ += "YMMWORD PTR ";
        return;
      case 512:
        if (i_.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) out_ += "ZMMWORD PTR ";
        return;
      default:
        return;
    }
  }

  void append_broadcast() {
    if (i_.avx.broadcast.is_static) return;
    switch (i_.avx.broadcast.mode) {
      case ZYDIS_BROADCAST_MODE_1_TO_2:
        out_ += "{1to2}";
        return;
      case ZYDIS_BROADCAST_MODE_1_TO_4:
        out_ += "{1to4}";
        return;
      case ZYDIS_BROADCAST_MODE_1_TO_8:
        out_ += "{1to8}";
        return;
      case ZYDIS_BROADCAST_MODE_1_TO_16:
        out_ += "{1to16}";
        return;
      case ZYDIS_BROADCAST_MODE_1_TO_32:
        out_ += "{1to32}";
        return;
      default:
        return;
    }
  }

  template <typename... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const X86Decoded& decoded_;
  const ZydisDecodedInstruction& i_;
  bool is_att_;
  Syntax syntax_;
  Instruction& result_;
  std::string& out_;
  std::optional<uint64_t> pc_relative_;
};

Flow flow_of(const ZydisDecodedInstruction& i) {
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::kCall;
    case ZYDIS_CATEGORY_RET:
      return Flow::kReturn;
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Flow::kJump;
    default:
      return Flow::kOn;
  }
}

}  // namespace

void write_x86(const X86Decoded& decoded, Syntax syntax, Instruction& out) {
  out.text.clear();
  out.target.reset();
  out.flow = flow_of(decoded.instruction);
  Writer(decoded, syntax, out).write();
}

}  // namespace sonde::disasm
