// How long an x86 instruction is, and whether it may go elsewhere than to the next one.
//
//   X86Instruction i = decode_x86(bytes, true);     // 48 8d 3d 10 20 00 00 …: length 7
//
// Lengths need no names: prefixes, one to three bytes of opcode, a ModRM byte that says how much of
// an address follows, and immediates whose size depends on the opcode alone (Intel SDM volume 2,
// chapter 2 and the opcode maps of appendix A). That is all that the fields insn, insnlen and
// brstackinsn ask for; what an instruction does is a disassembler's matter.
#pragma once

#include "base/bytes.h"

namespace sonde::script {

struct X86Instruction {
  size_t length = 0;       // 0: not an instruction, or its bytes are not all there
  bool is_branch = false;  // jumps, calls, returns, interrupts and system calls
};

inline constexpr size_t kLongestX86Instruction = 15;

X86Instruction decode_x86(Bytes bytes, bool is_64_bit);

}  // namespace sonde::script
