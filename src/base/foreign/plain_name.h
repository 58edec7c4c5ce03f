// Names that other programs read: shells that complete words, caches that outlive us, the kernel's
// files of probes. Whoever writes a program chooses the bytes of its USDT probes' names; only names
// that mean nothing to any of those readers get to them.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Whether `name` is of ASCII letters, digits, '_', '.', ':' and '-', and not empty.
[[nodiscard]] bool is_plain_name(std::string_view name);
/// Whether `word` may be offered by a shell's completion: a plain name, or several with what events
/// of PMUs have between them, "msr/tsc/", "cpu/event=1,umask=2/".
[[nodiscard]] bool is_completion_word(std::string_view word);
/// Appends `name` and a blank to a list for completion, if it is such a word.
void append_completion_word(std::string& list, std::string_view name);
/// A name that is not plain, for people: what is not printable ASCII is "\x1b".
[[nodiscard]] std::string printable_name(std::string_view name);

}  // namespace sonde
