// capstone, loaded on first use: the dynamic linker would relocate 77,000 addresses in its tables
// at each program start, a tenth of the time of a small report.
#pragma once

#include <capstone/capstone.h>

#include "base/error.h"

namespace sonde::disasm {

/// As declared in capstone.h.
struct CapstoneLibrary {
  decltype(&::cs_open) open = nullptr;
  decltype(&::cs_option) option = nullptr;
  decltype(&::cs_disasm) disasm = nullptr;
  decltype(&::cs_insn_group) insn_group = nullptr;
  decltype(&::cs_free) free = nullptr;
  decltype(&::cs_close) close = nullptr;

  /// Stays loaded. Fails if it is not installed, or not the version that Sonde was built for.
  static Result<const CapstoneLibrary*> get();
};

}  // namespace sonde::disasm
