// The parts of SVG that every picture uses: escaping, colours, numbers, text that is cut to fit,
// and a few elements. A picture is a string that is appended to; nothing here is interactive.
//
// Anything from a profile goes through append_escaped. Its output is valid, and safe inside
// elements and quoted attributes of XML and HTML: markup becomes entities; control characters and
// broken UTF-8 become U+FFFD, so that one odd name cannot make the whole picture unreadable.
//
//   std::string svg;
//   open_svg(svg, {.width = 600, .height = 120});
//   append_rect(svg, {.x = 10, .y = 10, .width = 80, .height = 15}, css({200, 60, 60}));
//   append_text(svg, 13, 21, fit_text(name, 80, {}), R"( class="name")");
//   close_svg(svg);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

/// UTF-8 by default.
enum class TextEncoding : uint8_t {
  kUtf8,
  kOneByte,  // any single-byte encoding that is ASCII below 0x80: bytes above are kept
};

void append_escaped(std::string& out, std::string_view text,
                    TextEncoding encoding = TextEncoding::kUtf8);
[[nodiscard]] std::string escaped(std::string_view text);

/// With its quotes: a string that is valid in JSON and JavaScript and holds no markup, so that it
/// can be placed inside a script element or a CDATA section. Broken UTF-8 becomes U+FFFD.
void append_script_string(std::string& out, std::string_view text);

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

/// "rgb(205,2,0)".
[[nodiscard]] std::string css(Rgb color);
/// Interpolates between two colours: 0 is `from`, 1 is `to`.
[[nodiscard]] Rgb mix(Rgb from, Rgb to, double share);

/// With this many decimals.
void append_fixed(std::string& out, double value, int digits);
/// With one decimal, as coordinates are written: 12.3, 0.0, -4.5.
void append_coordinate(std::string& out, double value);
/// The value of a coordinate after rounding for output.
[[nodiscard]] double written_coordinate(double value);
/// Rounded, with thousands separators: "1,234,567".
[[nodiscard]] std::string grouped(double value);

/// The font of a text.
struct SvgFont {
  std::string_view family = "Verdana";
  double size = 12;        // px
  double width_em = 0.59;  // average character width, as a fraction of the size
};

/// For bold text, in the widest font that may be substituted.
inline constexpr double kBoldWidthEm = 0.7;

/// The width of a text in average characters: most characters take one column, those from U+1000
/// on, which include the East Asian scripts, two.
[[nodiscard]] size_t columns_of(std::string_view text, TextEncoding encoding = TextEncoding::kUtf8);
/// As much of the text as fits `limit` columns, ending in two dots if anything was cut off; empty
/// for a limit below 3.
[[nodiscard]] std::string cut_text(std::string_view text, size_t limit,
                                   TextEncoding encoding = TextEncoding::kUtf8);
/// As much as fits `width_px`.
[[nodiscard]] std::string fit_text(std::string_view text, double width_px, const SvgFont& font,
                                   TextEncoding encoding = TextEncoding::kUtf8);

struct SvgPage {
  double width = 0;  // px
  double height = 0;
  std::string_view encoding = "UTF-8";
  std::string_view attributes = {};  // of the root element, already escaped, with a leading blank
};

/// The XML declaration and the root element, with a viewBox so that the picture scales.
void open_svg(std::string& out, const SvgPage& page);
void close_svg(std::string& out);

/// Two shades behind the whole picture, upper and lower. `dark` are for users who prefer dark
/// pages; without them, the picture stays light.
struct SvgShades {
  std::string_view upper = "#eeeeee";
  std::string_view lower = "#eeeeb0";
};
void append_background(std::string& out, const SvgShades& light, const SvgShades* dark);

struct SvgRect {
  double x = 0;  // px
  double y = 0;
  double width = 0;
  double height = 0;
};
/// `fill` and `attributes` are already escaped; `attributes` begins with a blank.
void append_rect(std::string& out, const SvgRect& rect, std::string_view fill,
                 std::string_view attributes = {});
/// Escapes `text`. `x`, `y`: start of the baseline.
void append_text(std::string& out, double x, double y, std::string_view text,
                 std::string_view attributes = {}, TextEncoding encoding = TextEncoding::kUtf8);

}  // namespace sonde
