#include "tui/terminal/glyphs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/printing/printable.h"

namespace sonde::tui {
namespace {

using Range = std::pair<char32_t, char32_t>;

/// Combining marks, and characters of zero width.
constexpr auto kZero = std::to_array<Range>({
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},   {0x064b, 0x065f},
    {0x06d6, 0x06dc}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948},   {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},   {0x200b, 0x200f},
    {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0x302a, 0x302d},   {0x3099, 0x309a},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
});

/// East Asian Width W and F, and emoji (EastAsianWidth.txt, blocks joined if only unassigned
/// characters are between them).
constexpr auto kWide = std::to_array<Range>({
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2795, 0x2797},   {0x2b1b, 0x2b1c},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4c6},
    {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},
    {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff},
    {0x1b000, 0x1b2fb}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
    {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
    {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3e0, 0x1f3f0}, {0x1f400, 0x1f43e},
    {0x1f440, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f567}, {0x1f5fb, 0x1f64f},
    {0x1f680, 0x1f6c5}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
});

template <size_t N>
bool lies_in(const std::array<Range, N>& ranges, char32_t character) {
  auto after = std::ranges::upper_bound(ranges, character, {}, &Range::first);
  return after != ranges.begin() && character <= std::prev(after)->second;
}

}  // namespace

int width_of(char32_t character) {
  if (character < 0x300) return 1;
  if (lies_in(kZero, character)) return 0;
  return lies_in(kWide, character) ? 2 : 1;
}

char32_t take_character(std::string_view& text) {
  return take_printable(text);
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) columns += static_cast<size_t>(width_of(take_character(text)));
  return columns;
}

void append_character(std::string& out, char32_t character) {
  auto put = [&](char32_t value) { out += static_cast<char>(value); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0 | character >> 6);
  } else if (character < 0x10000) {
    put(0xe0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3f));
  } else {
    put(0xf0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3f));
    put(0x80 | (character >> 6 & 0x3f));
  }
  put(0x80 | (character & 0x3f));
}

}  // namespace sonde::tui
