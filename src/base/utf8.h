// Text that came from outside, made fit for formats that are UTF-8: names of functions, files and
// processes are bytes to the kernel and to ELF.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// How many bytes at the start of `text` are well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
[[nodiscard]] size_t valid_utf8_prefix(std::string_view text);
/// Appends `text`; each byte that belongs to no character becomes U+FFFD.
void append_utf8(std::string& out, std::string_view text);
[[nodiscard]] std::string to_utf8(std::string_view text);
/// Appends `text` as a JSON string, with its quotes. What comes out is valid JSON and UTF-8,
/// whatever goes in.
void append_json_string(std::string& out, std::string_view text);

}  // namespace sonde
