// How a character looks: colours and emphasis, independent of what the terminal can do. `sgr`
// encodes it for the terminal, as closely as that can show it.
//
// Semantic colours (hot, warm, titles) are from the terminal's own palette, so that they follow the
// user's theme; graphics (flame graphs) use RGB.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::tui {

enum class ColorDepth : uint8_t { kNone, k16, k256, kTrue };

struct Color {
  enum class Kind : uint8_t { kDefault, kPalette, kRgb };
  Kind kind = Kind::kDefault;
  uint8_t red = 0, green = 0, blue = 0;  // for a palette: the index, 0 to 15, in `red`
  bool operator==(const Color&) const = default;

  static constexpr Color palette(uint8_t index) { return {Kind::kPalette, index, 0, 0}; }
  static constexpr Color rgb(uint8_t r, uint8_t g, uint8_t b) { return {Kind::kRgb, r, g, b}; }
};

struct Style {
  Color foreground = {}, background = {};
  bool bold = false, dim = false, underline = false, reverse = false;
  bool operator==(const Style&) const = default;

  [[nodiscard]] Style with_bold() const {
    Style other = *this;
    other.bold = true;
    return other;
  }
};

using Variables = std::function<std::optional<std::string>(std::string_view name)>;

/// From NO_COLOR (https://no-color.org), COLORTERM and TERM.
[[nodiscard]] ColorDepth color_depth(const Variables& variable);
/// Whether the locale's encoding is UTF-8: LC_ALL, else LC_CTYPE, else LANG.
[[nodiscard]] bool speaks_utf8(const Variables& variable);

/// The escape sequence (ECMA-48, SGR) that selects exactly this style.
[[nodiscard]] std::string sgr(const Style& style, ColorDepth depth);

/// The styles of all views.
struct Theme {
  static Theme of(ColorDepth depth);
  Style plain, bar, titles, cursor, dim, hot, warm, match, tree, frame, note, source, arrow;
  bool is_colored = false;

  /// perf's thresholds: hot from 5 %, warm above 0.5 %.
  [[nodiscard]] const Style& of_percent(double percent) const {
    if (percent >= 5 || percent <= -5) return hot;
    return percent > 0.5 || percent < -0.5 ? warm : plain;
  }
};

}  // namespace sonde::tui
