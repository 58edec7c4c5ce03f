// The prefixes of an x86 instruction that objdump writes before its name: those that say something
// ("lock", "rep", "notrack"), and those that say nothing and fill room ("data16", "cs", "rex.W").
#pragma once

#include "disasm/x86_text.h"

namespace sonde::disasm {

/// Appends "data16 cs " and the like.
void append_prefixes(const X86Decoded& decoded, std::string& out);

}  // namespace sonde::disasm
