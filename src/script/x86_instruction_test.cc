#include "script/x86_instruction.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace sonde::script {
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

TEST(X86Instruction, HasTheLengthThatDisassemblersSay) {
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
    X86Instruction whole = decode_x86(bytes, c.wide);
    EXPECT_EQ(whole.length, length) << c.name;
    EXPECT_EQ(whole.is_branch, c.branch) << c.name;
    bytes.resize(length + 20, std::byte{0xcc});
    EXPECT_EQ(decode_x86(bytes, c.wide).length, length) << c.name;
    for (size_t cut = 0; cut < length; ++cut)
      EXPECT_EQ(decode_x86(Bytes(bytes).first(cut), c.wide).length, 0u) << c.name;
  }
}

TEST(X86Instruction, RefusesWhatIsNone) {
  for (const char* hex : {"0f 04", "0f 0a", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"})
    EXPECT_EQ(decode_x86(bytes_of(hex), true).length, 0u) << hex;
}

}  // namespace
}  // namespace sonde::script
