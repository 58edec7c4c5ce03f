// arm64 instructions that capstone 4 does not know (the atomics of ARMv8.1, used by every lock and
// counter) or names by their encoding where objdump uses an alias: movz and orr as mov, named
// hints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sonde::disasm {

/// The instruction's text in objdump's format ("ldaddal\tw0, w1, [x2]"); nullopt if it is none of
/// these. None of them is a jump. Arm Architecture Reference Manual, C4.1 and C6.2.
[[nodiscard]] std::optional<std::string> arm64_word(uint32_t word);

}  // namespace sonde::disasm
