#include "tui/terminal/style.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace sonde::tui {
namespace {

/// The usual sixteen terminal colours (xterm's table).
constexpr std::array<std::array<int, 3>, 16> kPalette{{{0, 0, 0},
                                                       {205, 0, 0},
                                                       {0, 205, 0},
                                                       {205, 205, 0},
                                                       {0, 0, 238},
                                                       {205, 0, 205},
                                                       {0, 205, 205},
                                                       {229, 229, 229},
                                                       {127, 127, 127},
                                                       {255, 0, 0},
                                                       {0, 255, 0},
                                                       {255, 255, 0},
                                                       {92, 92, 255},
                                                       {255, 0, 255},
                                                       {0, 255, 255},
                                                       {255, 255, 255}}};

int nearest_of_16(const Color& color) {
  int best = 0, least = INT32_MAX;
  for (int i = 0; i < 16; ++i) {
    const auto& known = kPalette[static_cast<size_t>(i)];
    int r = known[0] - color.red, g = known[1] - color.green, b = known[2] - color.blue;
    if (int distance = r * r + g * g + b * b; distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

/// In xterm's 6×6×6 cube, whose steps are 0, 95, 135 … 255.
int nearest_of_256(const Color& color) {
  auto step = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return 16 + 36 * step(color.red) + 6 * step(color.green) + step(color.blue);
}

void append_palette(std::string& out, int index, bool is_background) {
  int base = index < 8 ? 30 + index : 90 + index - 8;
  out += fmt::format(";{}", base + (is_background ? 10 : 0));
}

void append_color(std::string& out, const Color& color, bool is_background, ColorDepth depth) {
  if (color.kind == Color::Kind::kDefault || depth == ColorDepth::kNone) return;
  int selector = is_background ? 48 : 38;
  if (color.kind == Color::Kind::kPalette)
    append_palette(out, color.red, is_background);
  else if (depth == ColorDepth::k16)
    append_palette(out, nearest_of_16(color), is_background);
  else if (depth == ColorDepth::k256)
    out += fmt::format(";{};5;{}", selector, nearest_of_256(color));
  else
    out += fmt::format(";{};2;{};{};{}", selector, color.red, color.green, color.blue);
}

bool contains(const std::optional<std::string>& text, std::string_view part) {
  return text && text->find(part) != std::string::npos;
}

}  // namespace

ColorDepth color_depth(const Variables& variable) {
  auto term = variable("TERM");
  if (variable("NO_COLOR") || contains(term, "mono") || (term && term->starts_with("vt")))
    return ColorDepth::kNone;
  auto announced = variable("COLORTERM");
  if (contains(announced, "truecolor") || contains(announced, "24bit") || contains(term, "direct"))
    return ColorDepth::kTrue;
  return contains(term, "256") ? ColorDepth::k256 : ColorDepth::k16;
}

bool speaks_utf8(const Variables& variable) {
  for (std::string_view name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto locale = variable(name))
      return contains(locale, "UTF-8") || contains(locale, "utf8") || contains(locale, "UTF8") ||
             contains(locale, "utf-8");
  return false;
}

std::string sgr(const Style& style, ColorDepth depth) {
  std::string out = "\033[0";
  if (style.bold) out += ";1";
  if (style.dim) out += ";2";
  if (style.underline) out += ";4";
  if (style.reverse) out += ";7";
  append_color(out, style.foreground, false, depth);
  append_color(out, style.background, true, depth);
  return out + 'm';
}

Theme Theme::of(ColorDepth depth) {
  constexpr uint8_t kRed = 1, kGreen = 2, kYellow = 3, kBlue = 4, kCyan = 6, kWhite = 7;
  Theme theme;
  theme.titles.bold = theme.hot.bold = theme.frame.bold = true;
  theme.dim.dim = theme.tree.dim = true;
  theme.bar.reverse = theme.cursor.reverse = true;
  theme.match.underline = theme.match.bold = true;
  if (depth == ColorDepth::kNone) return theme;
  theme.is_colored = true;
  theme.hot.foreground = Color::palette(kRed);
  theme.warm.foreground = Color::palette(kGreen);
  theme.note.foreground = theme.match.foreground = Color::palette(kYellow);
  theme.source.foreground = Color::palette(kCyan);
  theme.arrow.foreground = Color::palette(kCyan);
  if (depth == ColorDepth::k16) {
    theme.bar = {.foreground = Color::palette(kWhite), .background = Color::palette(kBlue)};
    return theme;
  }
  theme.bar = {.foreground = Color::rgb(255, 255, 255), .background = Color::rgb(0, 95, 135)};
  theme.cursor = {.foreground = Color::rgb(255, 255, 255), .background = Color::rgb(68, 68, 108)};
  return theme;
}

}  // namespace sonde::tui
