// Names that print formats use without defining them: C types, kernel constants whose values are
// ABI, pure functions of the kernel, and the bits of a union that kvmmmu events access.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "event/print_fmt/print_fmt_code.h"

namespace sonde::print_fmt {

/// The type of a name such as "u32" or "gfp_t"; absent if it is not a known type.
std::optional<IntType> named_type(std::string_view name, uint32_t word_size);

/// Whether the word can only start a type: "unsigned", "struct", "const" …
bool is_type_keyword(std::string_view word);

/// Values of constants that the kernel leaves as names in format files: socket states, I/O
/// priorities …
std::optional<int64_t> named_constant(std::string_view name);

struct BitField {
  uint32_t shift = 0;
  uint32_t width = 0;
};
/// A member of a 32-bit union, by the union's tag: "kvm_mmu_page_role", "level".
std::optional<BitField> bit_field(std::string_view tag, std::string_view member);

}  // namespace sonde::print_fmt
