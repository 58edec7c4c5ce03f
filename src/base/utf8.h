// Makes external text valid for formats that require UTF-8: to the kernel and to ELF, names of
// functions, files and processes are just bytes.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// How many bytes at the start of `text` are well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
[[nodiscard]] size_t valid_utf8_prefix(std::string_view text);
/// Appends `text`; each byte that is not part of a character becomes U+FFFD.
void append_utf8(std::string& out, std::string_view text);
[[nodiscard]] std::string to_utf8(std::string_view text);
/// Appends `text` as a quoted JSON string. The output is valid JSON and UTF-8 for any input.
void append_json_string(std::string& out, std::string_view text);

}  // namespace sonde
