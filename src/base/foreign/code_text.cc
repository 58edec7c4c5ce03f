#include "base/foreign/code_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "base/utf8.h"

namespace sonde {
namespace {

bool is_letter(char c) {
  return to_ascii_lower(c) >= 'a' && to_ascii_lower(c) <= 'z';
}

/// The bytes of the UTF-8 character at the start of `text`, by its first byte.
size_t stated_size(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

uint32_t code_point(std::string_view character) {
  constexpr unsigned kMore = 6;
  uint32_t value = static_cast<unsigned char>(character.front()) & (0x7fu >> character.size());
  for (char c : character.substr(1))
    value = value << kMore | (static_cast<unsigned char>(c) & 0x3f);
  return value;
}

void append_ascii(std::string& out, char c) {
  if (c == '"' || c == '\\')
    out += {'\\', c};
  else if (c == '\n')
    out += "\\n";
  else if (c == '\t')
    out += "\\t";
  else if (c >= ' ' && c <= '~')
    out += c;
  else
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string identifier_of(std::string_view name) {
  std::string made = name.empty() || is_ascii_digit(name.front()) ? "_" : "";
  for (char c : name) made += is_letter(c) || is_ascii_digit(c) ? c : '_';
  return made;
}

Identifiers::Identifiers(std::span<const std::string_view> reserved)
    : reserved_(reserved.begin(), reserved.end()) {}

std::string Identifiers::add(std::string_view name) {
  std::string made = identifier_of(name);
  while (reserved_.contains(made)) made += '_';
  if (taken_.insert(made).second) return made;
  uint32_t& number = numbers_.try_emplace(made, 1).first->second;
  std::string numbered;
  do {
    numbered = fmt::format("{}_{}", made, ++number);
  } while (reserved_.contains(numbered) || !taken_.insert(numbered).second);
  return numbered;
}

std::string python_literal(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    size_t size = stated_size(text);
    std::string_view character = text.substr(0, size);
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      append_ascii(out, text.front());
      size = 1;
    } else if (character.size() == size && valid_utf8_prefix(character) == size) {
      uint32_t value = code_point(character);
      if (value > 0xffff)
        fmt::format_to(std::back_inserter(out), "\\U{:08x}", value);
      else
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", value);
    } else {
      // The text of an escape, as Python decodes such bytes with "backslashreplace".
      fmt::format_to(std::back_inserter(out), "\\\\x{:02x}",
                     static_cast<unsigned char>(text.front()));
      size = 1;
    }
    text.remove_prefix(size);
  }
  return out + '"';
}

}  // namespace sonde
