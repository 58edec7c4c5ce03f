#include "export/pictures/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace sonde {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kDots = "..";

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The length of the non-ASCII character at the beginning; 0 if there is none, or if XML does not
/// allow it (XML 1.0, section 2.2).
size_t character_length(std::string_view text) {
  auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 0;
  std::string_view character = text.substr(0, lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);
  if (character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") return 0;
  return valid_utf8_prefix(character) == character.size() ? character.size() : 0;
}

/// The replacement for an ASCII character; empty if it needs none.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
    case '\r':
      return " ";
    default:
      return {};
  }
}

bool is_plain(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && entity_of(c).empty();
}

void append_odd(std::string& out, std::string_view& text, TextEncoding encoding) {
  char c = text.front();
  auto byte = static_cast<unsigned char>(c);
  std::string_view entity = entity_of(c);
  size_t length = 1;
  if (!entity.empty()) {
    out += entity;
  } else if (byte >= 0x80 && encoding == TextEncoding::kOneByte) {
    out += c;
  } else if (size_t found = character_length(text); found > 0) {
    length = found;
    out += text.substr(0, length);
  } else {
    // A control character, or a byte that starts no valid sequence. U+FFFD exists in UTF-8 only.
    out += encoding == TextEncoding::kUtf8 ? kReplacement : "?";
  }
  text.remove_prefix(length);
}

/// The columns of the character that starts with this byte; 0 for continuation bytes.
size_t columns_of_byte(char byte, TextEncoding encoding) {
  constexpr unsigned char kFirstWide = 0xe1;  // U+1000
  if (encoding == TextEncoding::kOneByte) return 1;
  if (is_continuation(byte)) return 0;
  return static_cast<unsigned char>(byte) >= kFirstWide ? 2 : 1;
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, TextEncoding encoding) {
  while (!text.empty()) {
    auto odd = std::ranges::find_if_not(text, is_plain);
    auto plain = static_cast<size_t>(odd - text.begin());
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (!text.empty()) append_odd(out, text, encoding);
  }
}

void append_script_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    char c = text.front();
    size_t length = 1;
    if (is_plain(c) && c != '\\') {
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else if (size_t found = character_length(text); found > 0) {
      length = found;
      out += text.substr(0, length);
    } else {
      out += kReplacement;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text);
  return out;
}

std::string css(Rgb color) {
  return fmt::format("rgb({},{},{})", color.red, color.green, color.blue);
}

Rgb mix(Rgb from, Rgb to, double share) {
  auto between = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * std::clamp(share, 0.0, 1.0)));
  };
  return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

void append_fixed(std::string& out, double value, int digits) {
  std::array<char, 400> text;  // the largest double has 309 digits before the point
  auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed,
                           digits);
  out.append(text.data(), end.ptr);
}

void append_coordinate(std::string& out, double value) {
  append_fixed(out, value, 1);
}

double written_coordinate(double value) {
  std::string text;
  append_coordinate(text, value);
  double written = 0;
  std::from_chars(text.data(), text.data() + text.size(), written);
  return written;
}

std::string grouped(double value) {
  constexpr size_t kGroup = 3;
  std::string digits;
  append_fixed(digits, std::abs(value), 0);
  std::string out = value < 0 && digits != "0" ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) out += ',';
    out += digits[i];
  }
  return out;
}

size_t columns_of(std::string_view text, TextEncoding encoding) {
  size_t columns = 0;
  for (char byte : text) columns += columns_of_byte(byte, encoding);
  return columns;
}

std::string cut_text(std::string_view text, size_t limit, TextEncoding encoding) {
  constexpr size_t kFewest = 3;
  if (limit < kFewest) return {};
  // `kept` stops before the first character that dots could not follow; the loop ends at the first
  // that does not fit at all.
  size_t columns = 0, kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t more = columns_of_byte(text[i], encoding);
    if (columns + more > limit) return std::string(text.substr(0, kept)).append(kDots);
    columns += more;
    if (columns + kDots.size() <= limit) kept = i + 1;
  }
  return std::string(text);
}

std::string fit_text(std::string_view text, double width_px, const SvgFont& font,
                     TextEncoding encoding) {
  double room = width_px / (font.size * font.width_em);
  return room < 1 ? std::string() : cut_text(text, static_cast<size_t>(room), encoding);
}

void open_svg(std::string& out, const SvgPage& page) {
  fmt::format_to(std::back_inserter(out),
                 "<?xml version=\"1.0\" encoding=\"{0}\" standalone=\"no\"?>\n"
                 "<svg version=\"1.1\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\" "
                 "xmlns=\"http://www.w3.org/2000/svg\"{3}>\n",
                 page.encoding, page.width, page.height, page.attributes);
}

void close_svg(std::string& out) {
  out += "</svg>\n";
}

void append_background(std::string& out, const SvgShades& light, const SvgShades* dark) {
  fmt::format_to(std::back_inserter(out),
                 "<defs><linearGradient id=\"background\" y1=\"0\" y2=\"1\" x1=\"0\" x2=\"0\">"
                 "<stop id=\"upper\" stop-color=\"{}\" offset=\"5%\"/>"
                 "<stop id=\"lower\" stop-color=\"{}\" offset=\"95%\"/>"
                 "</linearGradient></defs>\n",
                 light.upper, light.lower);
  if (dark != nullptr)
    fmt::format_to(std::back_inserter(out),
                   "<style>@media (prefers-color-scheme: dark) "
                   "{{ #upper {{ stop-color: {}; }} #lower {{ stop-color: {}; }} }}</style>\n",
                   dark->upper, dark->lower);
  out +=
      "<rect id=\"page\" x=\"0\" y=\"0\" width=\"100%\" height=\"100%\" "
      "fill=\"url(#background)\"/>\n";
}

void append_rect(std::string& out, const SvgRect& rect, std::string_view fill,
                 std::string_view attributes) {
  out += "<rect x=\"";
  append_coordinate(out, rect.x);
  out += "\" y=\"";
  append_coordinate(out, rect.y);
  out += "\" width=\"";
  append_coordinate(out, rect.width);
  out += "\" height=\"";
  append_coordinate(out, rect.height);
  out += "\" fill=\"";
  out += fill;
  out += '"';
  out += attributes;
  out += "/>";
}

void append_text(std::string& out, double x, double y, std::string_view text,
                 std::string_view attributes, TextEncoding encoding) {
  out += "<text x=\"";
  append_coordinate(out, x);
  out += "\" y=\"";
  append_coordinate(out, y);
  out += '"';
  out += attributes;
  out += '>';
  append_escaped(out, text, encoding);
  out += "</text>";
}

}  // namespace sonde
