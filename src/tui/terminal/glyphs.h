// Text as a terminal shows it: characters and the columns that each occupies.
//
// Names come from files that anyone can write. Whatever could control the terminal
// (base/printing/printable.h has the rule) is shown as U+FFFD, so nothing in a recording reaches
// the terminal as a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::tui {

inline constexpr char32_t kReplacement = 0xfffd;

/// The columns of a character: 0 for combining ones, 2 for wide ones (Unicode's East Asian Width W
/// and F), else 1.
[[nodiscard]] int width_of(char32_t character);

/// Removes and returns the first character of `text`, which must not be empty.
[[nodiscard]] char32_t take_character(std::string_view& text);

/// The columns that a text occupies.
[[nodiscard]] size_t columns_of(std::string_view text);

void append_character(std::string& out, char32_t character);

}  // namespace sonde::tui
