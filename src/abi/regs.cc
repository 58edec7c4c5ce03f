#include "abi/regs.h"

#include <algorithm>

#include "base/text.h"

namespace sonde::abi {
namespace {

using Names = std::span<const std::string_view>;

// An XMM register is 128 bits wide and takes two numbers.
constexpr std::string_view kX86Names[] = {
    "AX",    "BX",    "CX",    "DX",    "SI",    "DI",    "BP",    "SP",    "IP",    "FLAGS",
    "CS",    "SS",    "DS",    "ES",    "FS",    "GS",    "R8",    "R9",    "R10",   "R11",
    "R12",   "R13",   "R14",   "R15",   "",      "",      "",      "",      "",      "",
    "",      "",      "XMM0",  "XMM0",  "XMM1",  "XMM1",  "XMM2",  "XMM2",  "XMM3",  "XMM3",
    "XMM4",  "XMM4",  "XMM5",  "XMM5",  "XMM6",  "XMM6",  "XMM7",  "XMM7",  "XMM8",  "XMM8",
    "XMM9",  "XMM9",  "XMM10", "XMM10", "XMM11", "XMM11", "XMM12", "XMM12", "XMM13", "XMM13",
    "XMM14", "XMM14", "XMM15", "XMM15",
};
constexpr std::string_view kArm64Names[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",  "",    "",    "",
    "",    "",    "",    "",    "",    "",    "",    "",    "",    "",    "vg",
};
constexpr std::string_view kArmNames[] = {
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};
constexpr std::string_view kRiscvNames[] = {
    "pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
constexpr std::string_view kPowerpcNames[] = {
    "r0",    "r1",   "r2",    "r3",   "r4",      "r5",    "r6",    "r7",    "r8",    "r9",
    "r10",   "r11",  "r12",   "r13",  "r14",     "r15",   "r16",   "r17",   "r18",   "r19",
    "r20",   "r21",  "r22",   "r23",  "r24",     "r25",   "r26",   "r27",   "r28",   "r29",
    "r30",   "r31",  "nip",   "msr",  "orig_r3", "ctr",   "link",  "xer",   "ccr",   "softe",
    "trap",  "dar",  "dsisr", "sier", "mmcra",   "mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2",
    "sier3", "pmc1", "pmc2",  "pmc3", "pmc4",    "pmc5",  "pmc6",  "sdar",  "siar",
};
constexpr std::string_view kS390Names[] = {
    "R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
    "R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
    "FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};
constexpr std::string_view kMipsNames[] = {
    "PC",  "$1",  "$2",  "$3",  "$4",  "$5",  "$6",  "$7",  "$8",  "$9",
    "$10", "$11", "$12", "$13", "$14", "$15", "$16", "$17", "$18", "$19",
    "$20", "$21", "$22", "$23", "$24", "$25", "$28", "$29", "$30", "$31",
};
constexpr std::string_view kLoongarchNames[] = {
    "PC",   "%r1",  "%r2",  "%r3",  "%r4",  "%r5",  "%r6",  "%r7",  "%r8",  "%r9",  "%r10",
    "%r11", "%r12", "%r13", "%r14", "%r15", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21",
    "%r22", "%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31",
};
constexpr std::string_view kCskyNames[] = {
    "tls",      "lr",       "pc",       "sr",      "sp",      "orig_a0", "a0",       "a1",
    "a2",       "a3",       "regs0",    "regs1",   "regs2",   "regs3",   "regs4",    "regs5",
    "regs6",    "regs7",    "regs8",    "regs9",   "exregs0", "exregs1", "exregs2",  "exregs3",
    "exregs4",  "exregs5",  "exregs6",  "exregs7", "exregs8", "exregs9", "exregs10", "exregs11",
    "exregs12", "exregs13", "exregs14", "hi",      "lo",      "dcsr",
};

constexpr uint64_t low_bits(unsigned count) {
  return (uint64_t{1} << count) - 1;
}
constexpr uint64_t kX86SegmentBits = 0xf000;  // DS, ES, FS, GS

struct ArchRegisters {
  Names names;
  uint64_t default_mask;
  unsigned instruction_pointer;
  unsigned stack_pointer;
};

ArchRegisters registers_of(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return {kX86Names, low_bits(24) & ~kX86SegmentBits, 8, 7};
    case Arch::kX86:
      return {Names(kX86Names).first(16), low_bits(16), 8, 7};
    case Arch::kArm64:
      return {kArm64Names, low_bits(33), 32, 31};
    case Arch::kArm:
      return {kArmNames, low_bits(16), 15, 13};
    case Arch::kRiscv:
      return {kRiscvNames, low_bits(32), 0, 2};
    case Arch::kPowerpc:
      return {kPowerpcNames, low_bits(45), 32, 1};
    case Arch::kS390:
      return {kS390Names, low_bits(34), 33, 15};
    case Arch::kMips:
      return {kMipsNames, low_bits(30), 0, 27};
    case Arch::kLoongarch:
      return {kLoongarchNames, low_bits(32), 0, 3};
    case Arch::kCsky:
      return {kCskyNames, low_bits(std::size(kCskyNames)), 2, 4};
    case Arch::kUnknown:
      break;
  }
  return {};
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

Arch arch_from_machine(std::string_view machine) {
  struct Prefix {
    std::string_view text;
    Arch arch;
  };
  constexpr Prefix kPrefixes[] = {
      {"x86_64", Arch::kX86_64},   {"amd64", Arch::kX86_64},
      {"x86", Arch::kX86},         {"i386", Arch::kX86},
      {"i486", Arch::kX86},        {"i586", Arch::kX86},
      {"i686", Arch::kX86},        {"aarch64", Arch::kArm64},
      {"arm64", Arch::kArm64},     {"arm", Arch::kArm},
      {"riscv", Arch::kRiscv},     {"ppc", Arch::kPowerpc},
      {"powerpc", Arch::kPowerpc}, {"s390", Arch::kS390},
      {"mips", Arch::kMips},       {"loongarch", Arch::kLoongarch},
      {"csky", Arch::kCsky},
  };
  for (const Prefix& prefix : kPrefixes)
    if (machine.starts_with(prefix.text)) return prefix.arch;
  return Arch::kUnknown;
}

Arch host_arch() {
#if defined(__x86_64__)
  return Arch::kX86_64;
#elif defined(__i386__)
  return Arch::kX86;
#elif defined(__aarch64__)
  return Arch::kArm64;
#elif defined(__arm__)
  return Arch::kArm;
#elif defined(__riscv)
  return Arch::kRiscv;
#elif defined(__powerpc__)
  return Arch::kPowerpc;
#elif defined(__s390__)
  return Arch::kS390;
#elif defined(__mips__)
  return Arch::kMips;
#elif defined(__loongarch__)
  return Arch::kLoongarch;
#else
  return Arch::kUnknown;
#endif
}

Names register_names(Arch arch) {
  return registers_of(arch).names;
}

std::string_view register_name(Arch arch, unsigned bit) {
  Names names = register_names(arch);
  return bit < names.size() && !names[bit].empty() ? names[bit] : "unknown";
}

std::optional<unsigned> register_number(Arch arch, std::string_view name) {
  if (name.empty()) return std::nullopt;
  Names names = register_names(arch);
  for (unsigned bit = 0; bit < names.size(); ++bit)
    if (std::ranges::equal(names[bit], name, {}, lower, lower)) return bit;
  return std::nullopt;
}

std::optional<unsigned> instruction_pointer(Arch arch) {
  if (arch == Arch::kUnknown) return std::nullopt;
  return registers_of(arch).instruction_pointer;
}

std::optional<unsigned> stack_pointer(Arch arch) {
  if (arch == Arch::kUnknown) return std::nullopt;
  return registers_of(arch).stack_pointer;
}

uint64_t default_register_mask(Arch arch) {
  return registers_of(arch).default_mask;
}

Result<uint64_t> parse_registers(Arch arch, std::string_view list, uint64_t allowed,
                                 std::string_view option) {
  if (list.empty()) return allowed;
  Names names = register_names(arch);
  uint64_t mask = 0;
  for (std::string_view name : split(list, ',')) {
    std::optional<unsigned> first = register_number(arch, name);
    if (!first || (allowed >> *first & 1) == 0)
      return fail(ErrorCode::kUsage, "Unknown register \"{}\", check man page or run \"{}?\"", name,
                  option);
    for (unsigned bit = *first; bit < names.size() && names[bit] == names[*first]; ++bit)
      mask |= uint64_t{1} << bit;
  }
  return mask;
}

std::string available_registers(Arch arch, uint64_t allowed) {
  std::string line = "available registers: ";
  Names names = register_names(arch);
  for (unsigned bit = 0; bit < names.size(); ++bit) {
    if ((allowed >> bit & 1) == 0 || names[bit].empty()) continue;
    if (bit > 0 && names[bit] == names[bit - 1]) continue;
    line += names[bit];
    line += ' ';
  }
  return line;
}

}  // namespace sonde::abi
