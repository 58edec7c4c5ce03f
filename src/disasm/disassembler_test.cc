#include "disasm/disassembler.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace sonde::disasm {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 3)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

struct Case {
  const char* name;
  const char* hex;
  bool branch = false;
  bool wide = true;
};

TEST(MeasureX86, HasTheLengthThatDisassemblersSay) {
  constexpr Case kCases[] = {
      {"push rbp", "55"},
      {"mov rbp,rsp", "48 89 e5"},
      {"mov eax,[rip+0x201]", "8b 05 01 02 00 00"},
      {"mov [rsp+rcx*4+8],eax", "89 44 8c 08"},
      {"mov eax,[rcx*4+0x10]", "8b 04 8d 10 00 00 00"},
      {"mov rax,imm64", "48 b8 01 02 03 04 05 06 07 08"},
      {"mov ax,imm16", "66 b8 01 02"},
      {"mov al,[moffs64]", "a0 01 02 03 04 05 06 07 08"},
      {"test byte [rax],1", "f6 00 01"},
      {"not byte [rax]", "f6 10"},
      {"test eax,imm32", "f7 c0 01 00 00 00"},
      {"imul eax,[rbx+1],imm32", "69 43 01 04 00 00 00"},
      {"enter", "c8 10 00 01"},
      {"nopw cs:[rax+rax*1+0]", "66 2e 0f 1f 84 00 00 00 00 00"},
      {"endbr64", "f3 0f 1e fa"},
      {"pshufb xmm0,xmm1", "66 0f 38 00 c1"},
      {"palignr xmm0,xmm1,8", "66 0f 3a 0f c1 08"},
      {"vzeroupper", "c5 f8 77"},
      {"vpxor xmm0,xmm0,xmm0", "c5 f9 ef c0"},
      {"vpalignr ymm,ymm,ymm,8", "c4 e3 75 0f c2 08"},
      {"vmovdqu64 zmm16,[rsi]", "62 e1 fe 48 6f 06"},
      {"vpcmpub k0,ymm,ymm,1", "62 f3 75 20 3e c2 01"},
      {"lock cmpxchg [rdx],ecx", "f0 0f b1 0a"},
      {"jmp rel8", "eb 10", true},
      {"jne rel32", "0f 85 01 02 03 04", true},
      {"call rel32", "e8 01 02 03 04", true},
      {"call [rip+1]", "ff 15 01 00 00 00", true},
      {"notrack jmp rax", "3e ff e0", true},
      {"inc [rax]", "ff 00"},
      {"ret", "c3", true},
      {"syscall", "0f 05", true},
      {"inc eax, in 32-bit code", "40", false, false},
      {"les, in 32-bit code", "c4 00", false, false},
      {"mov eax,[bx+si], in 32-bit code", "67 8b 00", false, false},
      {"jmp far, in 32-bit code", "ea 01 02 03 04 05 06", true, false},
      {"call rel16, in 32-bit code", "66 e8 01 02", true, false},
  };
  for (const Case& c : kCases) {
    std::vector<std::byte> bytes = bytes_of(c.hex);
    size_t length = bytes.size();
    InstructionSize whole = measure_x86(bytes, c.wide);
    EXPECT_EQ(whole.length, length) << c.name;
    EXPECT_EQ(whole.is_branch, c.branch) << c.name;
    bytes.resize(length + 20, std::byte{0xcc});
    EXPECT_EQ(measure_x86(bytes, c.wide).length, length) << c.name;
    for (size_t cut = 0; cut < length; ++cut)
      EXPECT_EQ(measure_x86(Bytes(bytes).first(cut), c.wide).length, 0u) << c.name;
  }
}

TEST(MeasureX86, RefusesWhatIsNone) {
  for (const char* hex : {"0f 04", "0f 0a", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"})
    EXPECT_EQ(measure_x86(bytes_of(hex), true).length, 0u) << hex;
}

struct TextCase {
  const char* hex;
  const char* att;
  const char* intel;
};

TEST(Disassembler, SpellsAsObjdumpDoes) {
  constexpr TextCase kCases[] = {
      {"48 89 e5", "mov    %rsp,%rbp", "mov    rbp,rsp"},
      {"c7 04 24 01 00 00 00", "movl   $0x1,(%rsp)", "mov    DWORD PTR [rsp],0x1"},
      {"64 48 8b 04 25 28 00 00 00", "mov    %fs:0x28,%rax", "mov    rax,QWORD PTR fs:0x28"},
      {"48 83 ec 80", "sub    $0xffffffffffffff80,%rsp", "sub    rsp,0xffffffffffffff80"},
      {"66 90", "xchg   %ax,%ax", "xchg   ax,ax"},
      {"66 66 2e 0f 1f 84 00 00 00 00 00", "data16 cs nopw 0x0(%rax,%rax,1)",
       "data16 cs nop WORD PTR [rax+rax*1+0x0]"},
      {"f3 48 a5", "rep movsq %ds:(%rsi),%es:(%rdi)",
       "rep movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]"},
      {"f2 ae", "repnz scas %es:(%rdi),%al", "repnz scas al,BYTE PTR es:[rdi]"},
      {"f0 0f b1 0a", "lock cmpxchg %ecx,(%rdx)", "lock cmpxchg DWORD PTR [rdx],ecx"},
      {"0f b6 07", "movzbl (%rdi),%eax", "movzx  eax,BYTE PTR [rdi]"},
      {"48 98", "cltq", "cdqe"},
      {"d1 e8", "shr    %eax", "shr    eax,1"},
      {"9b d9 7c 24 02", "fstcw  0x2(%rsp)", "fstcw  WORD PTR [rsp+0x2]"},
      {"de e9", "fsubrp %st,%st(1)", "fsubp  st(1),st"},
      {"db 2c 24", "fldt   (%rsp)", "fld    TBYTE PTR [rsp]"},
      {"3e ff e0", "notrack jmp *%rax", "notrack jmp rax"},
      {"62 f3 7d 49 3f eb 00", "vpcmpeqb %zmm3,%zmm0,%k5{%k1}", "vpcmpeqb k5{k1},zmm0,zmm3"},
      {"62 f3 6d 22 3e 0f 01", "vpcmpltub (%rdi),%ymm18,%k1{%k2}",
       "vpcmpltub k1{k2},ymm18,YMMWORD PTR [rdi]"},
      {"ff", "(bad)", "(bad)"},
  };
  auto att = Disassembler::make(abi::Arch::kX86_64, {}).value();
  auto intel = Disassembler::make(abi::Arch::kX86_64, {.syntax = Syntax::kIntel}).value();
  Instruction instruction;
  for (const TextCase& c : kCases) {
    std::vector<std::byte> bytes = bytes_of(c.hex);
    att.decode(bytes, 0x1000, instruction);
    EXPECT_EQ(instruction.text, c.att) << c.hex;
    EXPECT_EQ(instruction.length, bytes.size()) << c.hex;
    intel.decode(bytes, 0x1000, instruction);
    EXPECT_EQ(instruction.text, c.intel) << c.hex;
  }
}

TEST(Disassembler, KnowsWhereControlAndOperandsGo) {
  auto code = Disassembler::make(abi::Arch::kX86_64, {}).value();
  Instruction i;
  code.decode(bytes_of("e8 f2 fe ff ff"), 0x1139, i);
  EXPECT_EQ(i.text, "call   1030");
  EXPECT_EQ(i.flow, Flow::kCall);
  EXPECT_EQ(i.target, 0x1030u);
  code.decode(bytes_of("48 8d 05 10 00 00 00"), 0x1000, i);
  EXPECT_EQ(i.text, "lea    0x10(%rip),%rax");
  EXPECT_EQ(i.flow, Flow::kOn);
  EXPECT_EQ(i.target, 0x1017u);
  code.decode(bytes_of("c3"), 0x1000, i);
  EXPECT_EQ(i.flow, Flow::kReturn);
  EXPECT_FALSE(i.target);
}

TEST(Disassembler, Arm64) {
  auto code = Disassembler::make(abi::Arch::kArm64, {}).value();
  Instruction i;
  code.decode(bytes_of("fd 7b bf a9"), 0x1000, i);
  EXPECT_EQ(i.text, "stp\tx29, x30, [sp, #-0x10]!");
  EXPECT_EQ(i.length, 4u);
  code.decode(bytes_of("04 00 00 94"), 0x1000, i);
  EXPECT_EQ(i.text, "bl\t1010");
  EXPECT_EQ(i.flow, Flow::kCall);
  EXPECT_EQ(i.target, 0x1010u);
  code.decode(bytes_of("c0 03 5f d6"), 0x1000, i);
  EXPECT_EQ(i.text, "ret");
  EXPECT_EQ(i.flow, Flow::kReturn);
  code.decode(bytes_of("00 00 00 00"), 0x1000, i);
  EXPECT_EQ(i.length, 4u);
  code.decode(bytes_of("fd 7b"), 0x1000, i);
  EXPECT_EQ(i.length, 2u);
}

/// The texts are llvm-objdump's, but GNU objdump's for immediates.
TEST(Disassembler, Arm64WordsThatCapstoneHasNotOrNamesOtherwise) {
  struct {
    std::string_view hex, text;
  } cases[] = {
      {"41 7c e0 88", "casa\tw0, w1, [x2]"},
      {"e6 ff e0 c8", "casal\tx0, x6, [sp]"},
      {"82 fc 60 48", "caspal\tx0, x1, x2, x3, [x4]"},
      {"20 00 20 b8", "ldadd\tw0, w0, [x1]"},
      {"23 00 e2 f8", "ldaddal\tx2, x3, [x1]"},
      {"3f 00 62 78", "staddlh\tw2, [x1]"},
      {"3f 00 a2 78", "ldaddah\tw2, wzr, [x1]"},
      {"20 80 a0 b8", "swpa\tw0, w0, [x1]"},
      {"20 c0 bf f8", "ldapr\tx0, [x1]"},
      {"5f 24 03 d5", "bti\tc"},
      {"3f 23 03 d5", "paciasp"},
      {"ff 20 03 d5", "xpaclri"},
      {"02 00 80 d2", "mov\tx2, #0x0"},
      {"02 00 a0 d2", "movz\tx2, #0, lsl #16"},
      {"e3 ff ff d2", "mov\tx3, #0xffff000000000000"},
      {"03 00 80 92", "mov\tx3, #0xffffffffffffffff"},
      {"03 00 80 12", "mov\tw3, #0xffffffff"},
      {"e0 f3 00 b2", "mov\tx0, #0x5555555555555555"},
      {"e0 7f 40 b2", "mov\tx0, #0xffffffff"},
      {"80 87 5e f8", "ldr\tx0, [x28], #-0x18"},
      {"40 1c 0c 4e", "mov\tv0.s[1], w2"},
  };
  auto code = Disassembler::make(abi::Arch::kArm64, {}).value();
  Instruction i;
  for (const auto& [hex, text] : cases) {
    code.decode(bytes_of(hex), 0x1000, i);
    EXPECT_EQ(i.text, text) << hex;
    EXPECT_EQ(i.flow, Flow::kOn) << hex;
  }
}

TEST(Disassembler, RefusesOtherMachines) {
  EXPECT_FALSE(Disassembler::make(abi::Arch::kRiscv, {}));
}

}  // namespace
}  // namespace sonde::disasm
