#include "base/foreign/plain_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace sonde {
namespace {

bool is_plain(char c) {
  return (to_ascii_lower(c) >= 'a' && to_ascii_lower(c) <= 'z') || is_ascii_digit(c) || c == '_' ||
         c == '.' || c == ':' || c == '-';
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_plain);
}

bool is_completion_word(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return is_plain(c) || c == '/' || c == ',' || c == '=';
  });
}

void append_completion_word(std::string& list, std::string_view name) {
  if (!is_completion_word(name)) return;
  list += name;
  list += ' ';
}

std::string printable_name(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (c >= ' ' && c <= '~')
      text += c;
    else
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace sonde
