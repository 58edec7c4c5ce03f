#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

std::optional<uint64_t> parse_in_base(std::string_view text, int base) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Matches one character against a bracket expression that starts after '['. Sets `next` to the
/// position after its ']', or to npos if it is unterminated (then '[' is literal).
bool bracket_match(std::string_view pattern, char c, size_t& next) {
  size_t at = 0;
  bool negated = !pattern.empty() && (pattern[0] == '!' || pattern[0] == '^');
  if (negated) ++at;
  bool found = false;
  for (bool first = true; at < pattern.size(); first = false) {
    char low = pattern[at];
    if (low == ']' && !first) {
      next = at + 1;
      return found != negated;
    }
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      found |= low <= c && c <= pattern[at + 2];
      at += 3;
    } else {
      found |= low == c;
      ++at;
    }
  }
  next = std::string_view::npos;
  return c == '[';
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    size_t at = text.find(separator);
    fields.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return fields;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<uint64_t> parse_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_in_base(text.substr(2), 16);
  return parse_in_base(text, 10);
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_in_base(text, 16);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // Iterative matching with one backtracking point (the last '*'): linear for real patterns, never
  // exponential.
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      std::string_view rest = pattern.substr(p + 1);
      if (rest.find_first_of("*?[\\") == std::string_view::npos)
        return text.substr(t).ends_with(rest);
      star = p++;
      star_text = t;
      continue;
    }
    bool matched = false;
    size_t next = p + 1;
    if (p < pattern.size()) {
      if (pattern[p] == '?') {
        matched = true;
      } else if (pattern[p] == '[') {
        size_t behind = 0;
        matched = bracket_match(pattern.substr(p + 1), text[t], behind);
        if (behind != std::string_view::npos) next = p + 1 + behind;
      } else {
        if (pattern[p] == '\\' && p + 1 < pattern.size()) {
          ++p;
          next = p + 1;
        }
        matched = pattern[p] == text[t];
      }
    }
    if (matched) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool has_glob(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace sonde
