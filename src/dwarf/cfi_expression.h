// DWARF expressions in call frame information: the few cases (PLT entries, signal frames, realigned
// stacks) where a rule is a small program over the registers and the stack (DWARF 5, section 2.5).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "dwarf/cfi_rules.h"

namespace sonde {

/// The known registers of one frame.
struct FrameRegisters {
  std::array<uint64_t, kUnwindRegisters> value{};
  uint64_t known = 0;  // bit per register

  [[nodiscard]] bool has(uint32_t reg) const {
    return reg < kUnwindRegisters && (known >> reg & 1);
  }
  void set(uint32_t reg, uint64_t to) {
    value[reg] = to;
    known |= uint64_t{1} << reg;
  }
  void forget(uint32_t reg) { known &= ~(uint64_t{1} << reg); }
};

/// The memory of the sampled thread.
class FrameMemory {
 public:
  virtual ~FrameMemory() = default;
  /// `size` (1 to 8) bytes as a number; nullopt if they were not recorded.
  [[nodiscard]] virtual std::optional<uint64_t> read(uint64_t address, uint32_t size) const = 0;
};

/// The result; nullopt if the expression is damaged, uses an unknown value, or does not terminate.
/// `cfa` is the initial stack content for register rules.
[[nodiscard]] std::optional<uint64_t> evaluate_cfi(Bytes expression, ByteOrder order,
                                                   uint8_t address_size,
                                                   const FrameRegisters& registers,
                                                   const FrameMemory& memory,
                                                   std::optional<uint64_t> cfa);

}  // namespace sonde
