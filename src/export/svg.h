// Pieces of SVG that every picture is made of: escaping, colours, numbers, text that is cut to fit,
// and the few elements that are drawn. A picture is text that is appended to; nothing here is
// interactive.
//
// Whatever comes from a profile goes through append_escaped. It gives text that is safe inside
// elements and quoted attributes of XML and HTML, and valid: markup becomes entities, control
// characters and broken UTF-8 become U+FFFD, so one odd name cannot make the whole picture
// unreadable.
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

/// UTF-8, where nothing else is said.
enum class TextEncoding : uint8_t {
  kUtf8,
  kOneByte,  // any other whose characters are bytes, ASCII below 0x80: those above stay as they are
};

void append_escaped(std::string& out, std::string_view text,
                    TextEncoding encoding = TextEncoding::kUtf8);
[[nodiscard]] std::string escaped(std::string_view text);

/// With its quotes: a string of JSON, and of JavaScript, that holds no markup, so that it may stand
/// inside a script element or a CDATA section. Broken UTF-8 becomes U+FFFD.
void append_script_string(std::string& out, std::string_view text);

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

/// "rgb(205,2,0)".
[[nodiscard]] std::string css(Rgb color);
/// Between two colours: 0 is `from`, 1 is `to`.
[[nodiscard]] Rgb mix(Rgb from, Rgb to, double share);

/// With so many digits behind the point.
void append_fixed(std::string& out, double value, int digits);
/// With one, as coordinates are written: 12.3, 0.0, -4.5.
void append_coordinate(std::string& out, double value);
/// What a coordinate is once it is written.
[[nodiscard]] double written_coordinate(double value);
/// Rounded, its thousands divided by commas: "1,234,567".
[[nodiscard]] std::string grouped(double value);

/// The type that text is set in.
struct SvgFont {
  std::string_view family = "Verdana";
  double size = 12;        // px
  double width_em = 0.59;  // of a character on average, in parts of the size
};

/// Of bold text, also in the widest font that may stand in for another.
inline constexpr double kBoldWidthEm = 0.7;

/// Characters of average width that a text takes: most take one, those from U+1000 on, among them
/// the scripts of East Asia, two.
[[nodiscard]] size_t columns_of(std::string_view text, TextEncoding encoding = TextEncoding::kUtf8);
/// What of it takes at most `limit` columns, the last two of which are dots where something was cut
/// off; empty for a limit below 3.
[[nodiscard]] std::string cut_text(std::string_view text, size_t limit,
                                   TextEncoding encoding = TextEncoding::kUtf8);
/// As much as `width_px` has room for.
[[nodiscard]] std::string fit_text(std::string_view text, double width_px, const SvgFont& font,
                                   TextEncoding encoding = TextEncoding::kUtf8);

struct SvgPage {
  double width = 0;  // px
  double height = 0;
  std::string_view encoding = "UTF-8";
  std::string_view attributes = {};  // of the root element, already escaped, with a blank in front
};

/// The XML declaration and the root element, with a viewBox, so that the picture scales.
void open_svg(std::string& out, const SvgPage& page);
void close_svg(std::string& out);

/// Two shades behind the whole picture, upper and lower. `dark` are those for people who asked for
/// dark pages; without them, the picture stays light.
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
/// `text` is escaped here. `x`, `y`: of the base line's beginning.
void append_text(std::string& out, double x, double y, std::string_view text,
                 std::string_view attributes = {}, TextEncoding encoding = TextEncoding::kUtf8);

}  // namespace sonde
