// capstone, loaded when it is first asked for: the linker would write 77,000 addresses into its
// tables at each start of the program, a tenth of what a small report takes.
#pragma once

#include <capstone/capstone.h>

#include "base/error.h"

namespace sonde::disasm {

/// As capstone.h declares them.
struct CapstoneLibrary {
  decltype(&::cs_open) open = nullptr;
  decltype(&::cs_option) option = nullptr;
  decltype(&::cs_disasm) disasm = nullptr;
  decltype(&::cs_insn_group) insn_group = nullptr;
  decltype(&::cs_free) free = nullptr;
  decltype(&::cs_close) close = nullptr;

  /// Stays loaded. Errors: it is not on this machine, or not the version that Sonde was built for.
  static Result<const CapstoneLibrary*> get();
};

}  // namespace sonde::disasm
