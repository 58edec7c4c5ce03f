// Translates the operand of an SDT argument, as the compiler wrote it into the note, to the syntax
// that uprobe_events uses to fetch it (kernel documentation, "Uprobe-tracer"):
//
//   x86-64   "-4@%ebx"         "%bx:s32"            arm64   "8@x0"          "%x0:u64"
//            "8@-16(%rbp)"     "-16(%bp):u64"               "-4@[sp, 12]"   "+12(%sp):s32"
//            "4@$7"            "\7:u32"                     "4@7"           "\7:u32"
//
// Operands that the tracer cannot fetch (floating point, scaled indexes, PC-relative addresses)
// have no translation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// `machine`: EM_X86_64 or EM_AARCH64; others are not supported.
[[nodiscard]] std::optional<std::string> fetch_argument(std::string_view operand, uint16_t machine);

/// The operands of a note: separated by blanks, except for blanks inside brackets.
[[nodiscard]] std::vector<std::string_view> split_operands(std::string_view arguments);

}  // namespace sonde
