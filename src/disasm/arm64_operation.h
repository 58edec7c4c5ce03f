// Decodes arm64 instructions into operations, with capstone.
#pragma once

#include "disasm/arm64_text.h"
#include "disasm/operation.h"

namespace sonde::disasm {

class Arm64Operations {
 public:
  static Result<Arm64Operations> make();
  [[nodiscard]] Operation decode(Bytes bytes, uint64_t address) const;

 private:
  explicit Arm64Operations(Arm64Handle handle) : handle_(std::move(handle)) {}
  Arm64Handle handle_;
};

}  // namespace sonde::disasm
