// Small text functions that the standard library lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Splits at every `separator`; an empty text yields one empty field.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
/// The whole text as a number: decimal, or hexadecimal after "0x". Nothing else is allowed.
std::optional<uint64_t> parse_number(std::string_view text);
/// The whole text as hexadecimal digits, with or without "0x".
std::optional<uint64_t> parse_hex(std::string_view text);
/// Shell glob as in perf and the kernel: * ? [a-z] [!a] and backslash.
bool glob_match(std::string_view pattern, std::string_view text);
bool has_glob(std::string_view pattern);
/// The number of edits between two names; for "did you mean".
size_t edit_distance(std::string_view a, std::string_view b);
/// "a, b" from {"a", "b"}.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// Hex digits of bytes, for build ids.
std::string to_hex(std::string_view bytes);

/// ASCII letters and digits, whatever the locale.
constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_ascii_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr char to_ascii_lower(char c) {
  return is_ascii_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace sonde
