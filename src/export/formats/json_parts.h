// Helpers that append JSON numbers and strings to a text.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/utf8.h"
#include "export/formats/folded_writer.h"

namespace sonde {

inline void append_number(std::string& text, uint64_t number) {
  fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// `"key":`, preceded by a comma if it is not the first member.
inline void append_key(std::string& text, std::string_view key) {
  if (!text.empty() && text.back() != '{') text += ',';
  text += '"';
  text += key;
  text += "\":";
}
inline void append_member(std::string& text, std::string_view key, std::string_view value) {
  append_key(text, key);
  append_json_string(text, value);
}

/// An integer with a decimal point before its last `digits` digits: (1234567, 6) is 1.234567. No
/// trailing zeros.
inline void append_scaled(std::string& text, uint64_t number, unsigned digits) {
  uint64_t one = 1;
  for (unsigned i = 0; i < digits; ++i) one *= 10;
  append_number(text, number / one);
  uint64_t rest = number % one;
  if (rest == 0) return;
  text += '.';
  for (one /= 10; rest > 0; one /= 10) {
    text += static_cast<char>('0' + rest / one);
    rest %= one;
  }
}

}  // namespace sonde
