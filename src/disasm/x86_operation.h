// Decodes x86 instructions into operations, with Zydis.
#pragma once

#include <Zydis/Zydis.h>

#include "disasm/operation.h"

namespace sonde::disasm {

class X86Operations {
 public:
  explicit X86Operations(bool is_64_bit);
  [[nodiscard]] Operation decode(Bytes bytes, uint64_t address) const;

 private:
  ZydisDecoder decoder_;
  bool is_64_bit_;
};

}  // namespace sonde::disasm
