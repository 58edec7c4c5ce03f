#include "disasm/x86_prefixes.h"

#include <array>

#include "disasm/x86_spelling.h"

namespace sonde::disasm {
namespace {

bool is_rex(const ZydisDecodedInstruction& i, uint8_t value) {
  return i.machine_mode == ZYDIS_MACHINE_MODE_LONG_64 && (value & 0xf0) == 0x40;
}

class Prefixes {
 public:
  explicit Prefixes(const X86Decoded& decoded)
      : decoded_(decoded), i_(decoded.instruction), memory_(memory_operand(decoded)) {
    for (size_t at = 0; at < i_.raw.prefix_count; ++at)
      last_[i_.raw.prefixes[at].value] = static_cast<uint8_t>(at);
  }

  void append(std::string& out) const {
    for (size_t at = 0; at < i_.raw.prefix_count; ++at) {
      uint8_t value = i_.raw.prefixes[at].value;
      if (is_rex(i_, value)) {
        append_rex(value, out);
        continue;
      }
      bool is_last = last_[value] == at;
      if (is_last && is_used(value)) continue;
      out += name_of(value, is_last);
      out += ' ';
    }
  }

 private:
  [[nodiscard]] bool has(uint64_t attribute) const { return (i_.attributes & attribute) != 0; }

  /// Part of the opcode, or visible in the operands.
  [[nodiscard]] bool is_used(uint8_t value) const {
    bool is_string = !x86_string_instruction(i_, Syntax::kAtt).empty();
    for (size_t at = 0; at < i_.raw.prefix_count; ++at)
      if (!is_string && i_.raw.prefixes[at].value == value &&
          i_.raw.prefixes[at].type == ZYDIS_PREFIX_TYPE_MANDATORY)
        return true;
    switch (value) {
      case 0x66:
        return i_.operand_width == 16 && !is_near_branch();
      case 0x67:
        return memory_ != nullptr || i_.mnemonic == ZYDIS_MNEMONIC_JECXZ ||
               i_.mnemonic == ZYDIS_MNEMONIC_JCXZ ||
               !x86_string_instruction(i_, Syntax::kAtt).empty();
      case 0x2e:
      case 0x3e:
        if (has(ZYDIS_ATTRIB_HAS_BRANCH_NOT_TAKEN) || has(ZYDIS_ATTRIB_HAS_BRANCH_TAKEN))
          return true;
        [[fallthrough]];
      case 0x26:
      case 0x36:
        return i_.machine_mode != ZYDIS_MACHINE_MODE_LONG_64 && shows_segment();
      case 0x64:
      case 0x65:
        return shows_segment();
      default:
        return false;
    }
  }
  [[nodiscard]] bool is_near_branch() const {
    return i_.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR ||
           i_.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT;
  }
  [[nodiscard]] bool shows_segment() const {
    return memory_ != nullptr || !x86_string_instruction(i_, Syntax::kAtt).empty();
  }

  [[nodiscard]] std::string_view name_of(uint8_t value, bool is_last) const {
    switch (value) {
      case 0x66:
        return "data16";
      case 0x67:
        return i_.machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? "addr32" : "addr16";
      case 0x2e:
        return "cs";
      case 0x3e:
        return is_last && has(ZYDIS_ATTRIB_HAS_NOTRACK) ? "notrack" : "ds";
      case 0x26:
        return "es";
      case 0x36:
        return "ss";
      case 0x64:
        return "fs";
      case 0x65:
        return "gs";
      case 0xf0:
        return "lock";
      case 0xf2:
        if (has(ZYDIS_ATTRIB_HAS_BND)) return "bnd";
        return has(ZYDIS_ATTRIB_HAS_XACQUIRE) ? "xacquire" : "repnz";
      default:
        if (has(ZYDIS_ATTRIB_HAS_XRELEASE)) return "xrelease";
        return has(ZYDIS_ATTRIB_HAS_REP) ? "rep" : "repz";
    }
  }

  void append_rex(uint8_t value, std::string& out) const {
    if ((value & 0x0f & ~used_rex_bits()) == 0 && (value != 0x40 || uses_plain_rex())) return;
    out += "rex";
    if ((value & 0x0f) != 0) out += '.';
    if (value & 8) out += 'W';
    if (value & 4) out += 'R';
    if (value & 2) out += 'X';
    if (value & 1) out += 'B';
    out += ' ';
  }
  /// Without any bit set, it selects %spl … %dil as byte registers.
  [[nodiscard]] bool uses_plain_rex() const {
    for (const ZydisDecodedOperand& operand : decoded_.operands)
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == 8) return true;
    return false;
  }
  [[nodiscard]] uint8_t used_rex_bits() const {
    uint8_t used = 0;
    bool is_wide = i_.operand_width == 64 && !is_wide_anyway();
    if (is_wide || chooses_by_width()) used |= 8;
    bool has_modrm = has(ZYDIS_ATTRIB_HAS_MODRM);
    for (const ZydisDecodedOperand& operand : decoded_.operands)
      if (operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG) used |= 4;
    if (has_modrm && memory_ != nullptr && has(ZYDIS_ATTRIB_HAS_SIB)) used |= 2;
    for (const ZydisDecodedOperand& operand : decoded_.operands)
      if (operand.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM ||
          operand.encoding == ZYDIS_OPERAND_ENCODING_OPCODE)
        used |= 1;
    return used;
  }
  /// 64 bits wide even without REX.W.
  [[nodiscard]] bool is_wide_anyway() const {
    switch (i_.meta.category) {
      case ZYDIS_CATEGORY_PUSH:
      case ZYDIS_CATEGORY_POP:
      case ZYDIS_CATEGORY_CALL:
      case ZYDIS_CATEGORY_UNCOND_BR:
      case ZYDIS_CATEGORY_COND_BR:
        return true;
      default:
        return i_.mnemonic == ZYDIS_MNEMONIC_RET || i_.mnemonic == ZYDIS_MNEMONIC_LEAVE;
    }
  }
  [[nodiscard]] bool chooses_by_width() const {
    switch (i_.mnemonic) {
      case ZYDIS_MNEMONIC_MOVQ:
      case ZYDIS_MNEMONIC_CVTSI2SD:
      case ZYDIS_MNEMONIC_CVTSI2SS:
        return true;
      default:
        return i_.operand_width == 64 && !is_wide_anyway();
    }
  }

  const X86Decoded& decoded_;
  const ZydisDecodedInstruction& i_;
  const ZydisDecodedOperand* memory_;
  std::array<uint8_t, 256> last_ = {};
};

}  // namespace

void append_prefixes(const X86Decoded& decoded, std::string& out) {
  if (decoded.instruction.raw.prefix_count > 0) Prefixes(decoded).append(out);
}

}  // namespace sonde::disasm
