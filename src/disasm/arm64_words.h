// arm64 instructions that capstone 4 does not know (the atomics of ARMv8.1, which every lock and
// counter is made of) or names by their encoding where objdump names what they do: movz and orr
// that are a mov, hints that have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sonde::disasm {

/// Its text as objdump writes it ("ldaddal\tw0, w1, [x2]"); nothing where it is none of these. None
/// of them is a jump. Arm Architecture Reference Manual, C4.1 and C6.2.
[[nodiscard]] std::optional<std::string> arm64_word(uint32_t word);

}  // namespace sonde::disasm
