// The names of x86 instructions as objdump spells them, where these are not Zydis' own.
//
// AT&T names tell the size of an operand only where no register does ("movl $1,(%rax)").
#pragma once

#include "disasm/x86_text.h"

namespace sonde::disasm {

struct Spelling {
  std::string name;
  bool drops_immediate = false;  // the last operand is part of the name: "vpcmpltub"
};
Spelling x86_name(const X86Decoded& decoded, Syntax syntax);

/// The text of a string instruction ("stos   %al,%es:(%rdi)"), whose operands are implied; empty
/// for others.
std::string x86_string_instruction(const ZydisDecodedInstruction& instruction, Syntax syntax);

/// Only an immediate or memory says how large the operand is.
const ZydisDecodedOperand* memory_operand(const X86Decoded& decoded);

}  // namespace sonde::disasm
