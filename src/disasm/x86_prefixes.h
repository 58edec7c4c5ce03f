// The prefixes of an x86 instruction that objdump prints before its name: significant ones ("lock",
// "rep", "notrack"), and ones that only pad ("data16", "cs", "rex.W").
#pragma once

#include "disasm/x86_text.h"

namespace sonde::disasm {

/// Appends "data16 cs " and the like.
void append_prefixes(const X86Decoded& decoded, std::string& out);

}  // namespace sonde::disasm
