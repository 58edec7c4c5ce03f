// objdump's names of x86 instructions, where they differ from Zydis'.
//
// AT&T names include the operand size only if no register implies it ("movl $1,(%rax)").
#pragma once

#include "disasm/x86_text.h"

namespace sonde::disasm {

struct Spelling {
  std::string name;
  bool drops_immediate = false;  // the last operand is part of the name: "vpcmpltub"
};
Spelling x86_name(const X86Decoded& decoded, Syntax syntax);

/// The text of a string instruction ("stos   %al,%es:(%rdi)"), whose operands are implicit; empty
/// for others.
std::string x86_string_instruction(const ZydisDecodedInstruction& instruction, Syntax syntax);

/// The memory operand; null if there is none.
const ZydisDecodedOperand* memory_operand(const X86Decoded& decoded);

}  // namespace sonde::disasm
