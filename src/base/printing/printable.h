// What may steer a terminal, and how text from outside is shown instead. Names come from programs
// and files of others: a process may call itself "\033]0;…", a function may have a line end in its
// name. Control characters (C0, DEL, C1), those that reorder text (bidi), and bytes that are not
// UTF-8 are shown as U+FFFD, each. The browser (tui/terminal/glyphs.h) and sinks (base/sink.h) have
// this rule in common.
//
// A sink applies it by itself if a terminal shows what it writes. These functions are for text that
// is joined before a sink sees it:
//
//   printable("a\nb")            // "a\ufffdb"
//   printable("a\nb", "\n")      // unchanged: the caller's own lines
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde {

/// Whether a terminal might do something else than to show this character.
[[nodiscard]] constexpr bool steers_terminal(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
         (character >= 0x202a && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

/// Removes and returns the first character of `text`, which must not be empty; U+FFFD for a byte
/// that is no UTF-8, and for what steers terminals.
[[nodiscard]] char32_t take_printable(std::string_view& text);

/// How many bytes at the start of `text` can be shown as they are; those in `kept` (control
/// characters of ASCII) are let through.
[[nodiscard]] size_t printable_prefix(std::string_view text, std::string_view kept = {});

void append_printable(std::string& out, std::string_view text, std::string_view kept = {});
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = {});
/// Makes printable what was appended from `begin` on, a piece of a line; tabs stay.
void make_printable(std::string& text, size_t begin);
/// The same for a message, which may end its line itself: that is left out.
void make_message_printable(std::string& text, size_t begin);

/// Whether a text must not stay as it is; if so, appends what takes its place.
using TextRule = bool (*)(std::string_view text, std::string& replacement);

/// As fmt::vformat, with a rule for the texts among the arguments. What the format itself contains
/// is ours. Arguments of types with formatters of their own are left alone.
[[nodiscard]] std::string format_with_rule(fmt::string_view format, fmt::format_args args,
                                           TextRule rule);

}  // namespace sonde
