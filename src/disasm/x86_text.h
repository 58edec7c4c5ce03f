// Prints one decoded x86 instruction in objdump's spelling, AT&T or Intel.
#pragma once

#include <Zydis/Zydis.h>

#include <span>
#include <string>

#include "disasm/disassembler.h"

namespace sonde::disasm {

struct X86Decoded {
  const ZydisDecodedInstruction& instruction;
  std::span<const ZydisDecodedOperand> operands;  // the visible ones
  uint64_t address;
};

/// Sets text, flow and target.
void write_x86(const X86Decoded& decoded, Syntax syntax, Instruction& out);

}  // namespace sonde::disasm
