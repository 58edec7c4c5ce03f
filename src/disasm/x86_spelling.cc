#include "disasm/x86_spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde::disasm {
namespace {

bool is_one_of(ZydisMnemonic mnemonic, std::initializer_list<ZydisMnemonic> list) {
  return std::ranges::find(list, mnemonic) != list.end();
}

/// b, w, l, q; empty for other sizes.
std::string_view letter_of(unsigned bits) {
  switch (bits) {
    case 8:
      return "b";
    case 16:
      return "w";
    case 32:
      return "l";
    case 64:
      return "q";
    default:
      return "";
  }
}

/// Conditions have several names; objdump has its own choice for jumps, moves and sets.
std::string with_condition(std::string_view name) {
  struct Pair {
    std::string_view zydis, objdump;
  };
  static constexpr Pair kConditions[] = {{"nbe", "a"}, {"nb", "ae"}, {"nle", "g"},
                                         {"nl", "ge"}, {"nz", "ne"}, {"z", "e"}};
  for (std::string_view stem : {"j", "set", "cmov"}) {
    if (!name.starts_with(stem)) continue;
    std::string_view condition = name.substr(stem.size());
    for (const Pair& pair : kConditions)
      if (condition == pair.zydis) return fmt::format("{}{}", stem, pair.objdump);
  }
  return std::string(name);
}

struct Renamed {
  ZydisMnemonic mnemonic;
  std::string_view att, intel;
};
constexpr Renamed kRenamed[] = {
    {ZYDIS_MNEMONIC_CBW, "cbtw", "cbw"},
    {ZYDIS_MNEMONIC_CWDE, "cwtl", "cwde"},
    {ZYDIS_MNEMONIC_CDQE, "cltq", "cdqe"},
    {ZYDIS_MNEMONIC_CWD, "cwtd", "cwd"},
    {ZYDIS_MNEMONIC_CDQ, "cltd", "cdq"},
    {ZYDIS_MNEMONIC_CQO, "cqto", "cqo"},
    {ZYDIS_MNEMONIC_PUSHFQ, "pushf", "pushf"},
    {ZYDIS_MNEMONIC_POPFQ, "popf", "popf"},
    {ZYDIS_MNEMONIC_PUSHFD, "pushf", "pushf"},
    {ZYDIS_MNEMONIC_POPFD, "popf", "popf"},
    {ZYDIS_MNEMONIC_PUSHF, "pushfw", "pushfw"},
    {ZYDIS_MNEMONIC_POPF, "popfw", "popfw"},
    {ZYDIS_MNEMONIC_PUSHAD, "pusha", "pusha"},
    {ZYDIS_MNEMONIC_POPAD, "popa", "popa"},
    {ZYDIS_MNEMONIC_IRETD, "iret", "iret"},
    {ZYDIS_MNEMONIC_XLAT, "xlat   %ds:(%rbx)", "xlat   BYTE PTR ds:[rbx]"},
    {ZYDIS_MNEMONIC_FDISI8087_NOP, "fndisi(8087 only)", "fndisi(8087 only)"},
    {ZYDIS_MNEMONIC_FENI8087_NOP, "fneni(8087 only)", "fneni(8087 only)"},
};

/// Names to which AT&T appends a size if no register implies it.
bool takes_letter(ZydisMnemonic mnemonic) {
  return is_one_of(
      mnemonic, {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_ADC,  ZYDIS_MNEMONIC_SBB,
                 ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR,  ZYDIS_MNEMONIC_CMP,
                 ZYDIS_MNEMONIC_ROL, ZYDIS_MNEMONIC_ROR, ZYDIS_MNEMONIC_RCL,  ZYDIS_MNEMONIC_RCR,
                 ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR,  ZYDIS_MNEMONIC_TEST,
                 ZYDIS_MNEMONIC_NOT, ZYDIS_MNEMONIC_NEG, ZYDIS_MNEMONIC_MUL,  ZYDIS_MNEMONIC_IMUL,
                 ZYDIS_MNEMONIC_DIV, ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_IDIV, ZYDIS_MNEMONIC_DEC,
                 ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_BT,  ZYDIS_MNEMONIC_BTS,  ZYDIS_MNEMONIC_BTR,
                 ZYDIS_MNEMONIC_BTC, ZYDIS_MNEMONIC_NOP});
}

/// The two-byte exchange of a register with itself.
bool is_short_nop(const ZydisDecodedInstruction& i) {
  return i.mnemonic == ZYDIS_MNEMONIC_NOP && i.opcode == 0x90 && i.operand_width == 16;
}

/// The only moves with a 64-bit address or immediate.
bool is_long_move(const X86Decoded& decoded) {
  const ZydisDecodedInstruction& i = decoded.instruction;
  if (i.mnemonic != ZYDIS_MNEMONIC_MOV) return false;
  return i.raw.imm[0].size == 64 || i.raw.disp.size == 64;
}

bool converts_integer(ZydisMnemonic mnemonic) {
  return is_one_of(
      mnemonic, {ZYDIS_MNEMONIC_CVTSI2SS, ZYDIS_MNEMONIC_CVTSI2SD, ZYDIS_MNEMONIC_VCVTSI2SS,
                 ZYDIS_MNEMONIC_VCVTSI2SD, ZYDIS_MNEMONIC_VCVTUSI2SS, ZYDIS_MNEMONIC_VCVTUSI2SD});
}

/// From vectors that differ only in length, if memory does not imply it.
bool narrows_vector(ZydisMnemonic mnemonic) {
  return is_one_of(
      mnemonic, {ZYDIS_MNEMONIC_CVTPD2PS, ZYDIS_MNEMONIC_VCVTPD2PS, ZYDIS_MNEMONIC_VCVTPD2DQ,
                 ZYDIS_MNEMONIC_VCVTTPD2DQ, ZYDIS_MNEMONIC_VCVTPD2UDQ, ZYDIS_MNEMONIC_VCVTTPD2UDQ,
                 ZYDIS_MNEMONIC_VCVTQQ2PS, ZYDIS_MNEMONIC_VCVTUQQ2PS});
}

/// The x87 size suffixes of memory operands: "s", "l", "t" for floating-point numbers, "s", "l",
/// "ll" for integers.
std::string_view x87_letter(std::string_view name, unsigned bits) {
  static constexpr std::string_view kReal[] = {"fld",  "fst",  "fstp",  "fadd", "fsub", "fsubr",
                                               "fmul", "fdiv", "fdivr", "fcom", "fcomp"};
  static constexpr std::string_view kWhole[] = {"fild",  "fist",   "fistp",  "fisttp",
                                                "fiadd", "fisub",  "fisubr", "fimul",
                                                "fidiv", "fidivr", "ficom",  "ficomp"};
  if (std::ranges::find(kReal, name) != std::end(kReal))
    return bits == 32 ? "s" : bits == 64 ? "l" : bits == 80 ? "t" : "";
  if (std::ranges::find(kWhole, name) != std::end(kWhole))
    return bits == 16 ? "s" : bits == 32 ? "l" : bits == 64 ? "ll" : "";
  return "";
}

bool has_general_register(const X86Decoded& decoded) {
  if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOP) return false;
  for (const ZydisDecodedOperand& operand : decoded.operands) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    bool is_count = operand.reg.value == ZYDIS_REGISTER_CL &&
                    operand.encoding == ZYDIS_OPERAND_ENCODING_NONE;  // of a shift
    if (!is_count) return true;
  }
  return false;
}

/// AT&T keeps an old mistake of its first assembler: with %st as the source, "sub" and "subr" (and
/// "div" and "divr") are swapped.
std::string x87_swapped(const X86Decoded& decoded, std::string name) {
  bool to_other = decoded.instruction.opcode == 0xdc || decoded.instruction.opcode == 0xde;
  if (!to_other || memory_operand(decoded) != nullptr) return name;
  for (std::string_view stem : {"fsub", "fdiv"}) {
    if (name == fmt::format("{}r", stem)) return std::string(stem);
    if (name == fmt::format("{}rp", stem)) return fmt::format("{}p", stem);
    if (name == stem) return fmt::format("{}r", stem);
    if (name == fmt::format("{}p", stem)) return fmt::format("{}rp", stem);
  }
  return name;
}

std::string att_name(const X86Decoded& decoded, std::string name) {
  const ZydisDecodedInstruction& i = decoded.instruction;
  const ZydisDecodedOperand* memory = memory_operand(decoded);
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
      if (decoded.operands.size() < 2) return name;
      return fmt::format("{}{}{}", name.substr(0, 4), letter_of(decoded.operands[1].size),
                         letter_of(decoded.operands[0].size));
    case ZYDIS_MNEMONIC_MOVSXD:
      return i.operand_width == 64 ? "movslq" : "movsxd";
    case ZYDIS_MNEMONIC_CRC32:
      if (decoded.operands.size() < 2) return name;
      return fmt::format("crc32{}", letter_of(decoded.operands[1].size));
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
      return name + (i.operand_width == 64 ? "q" : "l");
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
      if (i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return (i.operand_width == 64 ? "rex.W l" : "l") + name;
      return name;
    default:
      break;
  }
  if (i.meta.isa_ext == ZYDIS_ISA_EXT_X87) name = x87_swapped(decoded, std::move(name));
  if (memory == nullptr) return name;
  if (takes_letter(i.mnemonic) && !has_general_register(decoded))
    return name.append(letter_of(memory->size != 0 ? memory->size : i.operand_width));
  bool is_broadcast = i.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID;
  if (converts_integer(i.mnemonic)) return name.append(letter_of(memory->size));
  if (narrows_vector(i.mnemonic) && i.avx.vector_length != 512 &&
      i.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY && !is_broadcast)
    return name.append(i.avx.vector_length == 256 ? "y" : "x");
  if ((i.mnemonic == ZYDIS_MNEMONIC_PUSH || i.mnemonic == ZYDIS_MNEMONIC_POP) && memory->size == 16)
    return name.append("w");
  return name.append(x87_letter(name, memory->size));
}

/// Comparisons whose predicate is an immediate have a name per predicate.
struct Kinds {
  std::string_view stem;  // "cmp"
  std::string_view kind;  // "lt"
};
constexpr std::array<std::string_view, 32> kFloatKinds = {
    "eq",    "lt",     "le",     "unord",    "neq",    "nlt",    "nle",    "ord",
    "eq_uq", "nge",    "ngt",    "false",    "neq_oq", "ge",     "gt",     "true",
    "eq_os", "lt_oq",  "le_oq",  "unord_s",  "neq_us", "nlt_uq", "nle_uq", "ord_s",
    "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us"};
constexpr std::array<std::string_view, 8> kIntegerKinds = {"eq",  "lt",  "le",  "",
                                                           "neq", "nlt", "nle", ""};

std::string comparison_name(const X86Decoded& decoded, std::string_view name) {
  if (decoded.operands.empty()) return {};
  const ZydisDecodedOperand& last = decoded.operands.back();
  if (last.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return {};
  uint64_t kind = last.imm.value.u & 0xff;
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CMPPS:
    case ZYDIS_MNEMONIC_CMPPD:
    case ZYDIS_MNEMONIC_CMPSS:
    case ZYDIS_MNEMONIC_CMPSD:
      return kind < 8 ? fmt::format("cmp{}{}", kFloatKinds[kind], name.substr(3)) : std::string();
    case ZYDIS_MNEMONIC_VCMPPS:
    case ZYDIS_MNEMONIC_VCMPPD:
    case ZYDIS_MNEMONIC_VCMPSS:
    case ZYDIS_MNEMONIC_VCMPSD:
    case ZYDIS_MNEMONIC_VCMPPH:
    case ZYDIS_MNEMONIC_VCMPSH:
      return kind < 32 ? fmt::format("vcmp{}{}", kFloatKinds[kind], name.substr(4)) : std::string();
    case ZYDIS_MNEMONIC_VPCMPB:
    case ZYDIS_MNEMONIC_VPCMPUB:
    case ZYDIS_MNEMONIC_VPCMPW:
    case ZYDIS_MNEMONIC_VPCMPUW:
    case ZYDIS_MNEMONIC_VPCMPD:
    case ZYDIS_MNEMONIC_VPCMPUD:
    case ZYDIS_MNEMONIC_VPCMPQ:
    case ZYDIS_MNEMONIC_VPCMPUQ:
      return kind < 8 && !kIntegerKinds[kind].empty()
                 ? fmt::format("vpcmp{}{}", kIntegerKinds[kind], name.substr(5))
                 : std::string();
    case ZYDIS_MNEMONIC_PCLMULQDQ:
    case ZYDIS_MNEMONIC_VPCLMULQDQ:
      if ((kind & ~uint64_t{0x11}) != 0) return {};
      return fmt::format("{}pclmul{}q{}qdq", name.starts_with('v') ? "v" : "", kind & 1 ? "h" : "l",
                         kind & 0x10 ? "h" : "l");
    default:
      return {};
  }
}

}  // namespace

const ZydisDecodedOperand* memory_operand(const X86Decoded& decoded) {
  for (const ZydisDecodedOperand& operand : decoded.operands)
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return &operand;
  return nullptr;
}

Spelling x86_name(const X86Decoded& decoded, Syntax syntax) {
  std::string_view zydis = ZydisMnemonicGetString(decoded.instruction.mnemonic);
  if (std::string comparison = comparison_name(decoded, zydis); !comparison.empty())
    return {std::move(comparison), true};
  for (const Renamed& renamed : kRenamed)
    if (renamed.mnemonic == decoded.instruction.mnemonic)
      return {std::string(syntax == Syntax::kAtt ? renamed.att : renamed.intel)};
  if (is_short_nop(decoded.instruction))
    return {syntax == Syntax::kAtt ? "xchg   %ax,%ax" : "xchg   ax,ax"};
  if (is_long_move(decoded)) return {"movabs"};
  const ZydisDecodedInstruction& i = decoded.instruction;
  if (i.mnemonic == ZYDIS_MNEMONIC_RET && i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
    return {syntax == Syntax::kIntel ? "retf"
            : i.operand_width == 16  ? "lretw"
            : i.operand_width == 64  ? "lretq"
                                     : "lret"};
  std::string name = with_condition(zydis);
  if (syntax == Syntax::kAtt) return {att_name(decoded, std::move(name))};
  return {std::move(name)};
}

namespace {

/// The location of a string: "%ds:(%rsi)", "BYTE PTR es:[rdi]".
std::string string_place(const ZydisDecodedInstruction& i, bool is_source, unsigned bits,
                         Syntax syntax) {
  std::string_view segment = is_source ? "ds" : "es";
  if (is_source && i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) segment = "fs";
  if (is_source && i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) segment = "gs";
  std::string_view name = is_source ? "si" : "di";
  std::string_view width = i.address_width == 64 ? "r" : i.address_width == 32 ? "e" : "";
  if (syntax == Syntax::kAtt) return fmt::format("%{}:(%{}{})", segment, width, name);
  std::string_view size = bits == 8 ? "BYTE" : bits == 16 ? "WORD" : bits == 32 ? "DWORD" : "QWORD";
  return fmt::format("{} PTR {}:[{}{}]", size, segment, width, name);
}

struct StringKind {
  std::string_view stem;
  char left, right;  // AT&T's order: 's'ource, 'd'estination, 'a'ccumulator, 'p'ort
  bool has_letter;
  unsigned bits;
};

std::optional<StringKind> string_kind(const ZydisDecodedInstruction& i) {
  if (i.meta.category != ZYDIS_CATEGORY_STRINGOP && i.meta.category != ZYDIS_CATEGORY_IOSTRINGOP)
    return std::nullopt;
  std::string_view name = ZydisMnemonicGetString(i.mnemonic);
  unsigned bits = name.ends_with('b')   ? 8
                  : name.ends_with('w') ? 16
                  : name.ends_with('d') ? 32
                                        : 64;
  if (name.starts_with("movs")) return StringKind{"movs", 's', 'd', true, bits};
  if (name.starts_with("cmps")) return StringKind{"cmps", 'd', 's', true, bits};
  if (name.starts_with("stos")) return StringKind{"stos", 'a', 'd', false, bits};
  if (name.starts_with("lods")) return StringKind{"lods", 's', 'a', false, bits};
  if (name.starts_with("scas")) return StringKind{"scas", 'd', 'a', false, bits};
  if (name.starts_with("ins")) return StringKind{"ins", 'p', 'd', true, bits};
  if (name.starts_with("outs")) return StringKind{"outs", 's', 'p', true, bits};
  return std::nullopt;
}

std::string string_operand(const ZydisDecodedInstruction& i, char what, unsigned bits,
                           Syntax syntax) {
  if (what == 'p') return syntax == Syntax::kAtt ? "(%dx)" : "dx";
  if (what != 'a') return string_place(i, what == 's', bits, syntax);
  std::string_view name = bits == 8 ? "al" : bits == 16 ? "ax" : bits == 32 ? "eax" : "rax";
  return fmt::format("{}{}", syntax == Syntax::kAtt ? "%" : "", name);
}

}  // namespace

std::string x86_string_instruction(const ZydisDecodedInstruction& instruction, Syntax syntax) {
  auto kind = string_kind(instruction);
  if (!kind) return {};
  std::string left = string_operand(instruction, kind->left, kind->bits, syntax);
  std::string right = string_operand(instruction, kind->right, kind->bits, syntax);
  if (syntax == Syntax::kIntel) return fmt::format("{:<6} {},{}", kind->stem, right, left);
  return fmt::format("{:<6} {},{}",
                     fmt::format("{}{}", kind->stem, kind->has_letter ? letter_of(kind->bits) : ""),
                     left, right);
}

}  // namespace sonde::disasm
