#include "base/utf8.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace sonde {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// The size of the well-formed character at the start of `text`; 0 if there is none.
size_t character_size(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  size_t size = first >= 0xc2 && first <= 0xdf   ? 2u
                : (first & 0xf0) == 0xe0         ? 3u
                : first >= 0xf0 && first <= 0xf4 ? 4u
                                                 : 0u;
  if (size == 0 || text.size() < size) return 0;
  // The second byte excludes overlong forms, surrogates and values above U+10FFFF.
  unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return size;
}

bool needs_escape(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void append_escaped(std::string& out, char c) {
  if (c == '"' || c == '\\')
    out += {'\\', c};
  else if (c == '\n')
    out += "\\n";
  else if (c == '\t')
    out += "\\t";
  else
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Most texts are ASCII, which is checked eight bytes at a time.
    if (at + sizeof(uint64_t) <= text.size()) {
      constexpr uint64_t kHighBits = 0x8080808080808080;
      uint64_t eight;
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & kHighBits) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    size_t size = character_size(text.substr(at));
    if (size == 0) break;
    at += size;
  }
  return at;
}

void append_utf8(std::string& out, std::string_view text) {
  while (true) {
    size_t good = valid_utf8_prefix(text);
    out += text.substr(0, good);
    if (good == text.size()) return;
    out += kReplacement;
    text.remove_prefix(good + 1);
  }
}

std::string to_utf8(std::string_view text) {
  std::string out;
  append_utf8(out, text);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  std::string mended;
  if (valid_utf8_prefix(text) != text.size()) text = mended = to_utf8(text);
  out += '"';
  size_t plain = 0;  // start of the run copied verbatim
  for (size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out += text.substr(plain, i - plain);
    append_escaped(out, text[i]);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

}  // namespace sonde
