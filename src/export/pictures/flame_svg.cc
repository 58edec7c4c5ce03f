#include "export/pictures/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "export/formats/folded_writer.h"

namespace sonde {
namespace {

constexpr double kTextInset = 3;  // px from a box's left edge, and below its middle
constexpr SvgShades kDarkShades{"#24262b", "#1b1c20"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

class FlameSvgWriter {
 public:
  FlameSvgWriter(Sink& out, const FlameGraph& graph, const FlameOptions& options)
      : out_(out), graph_(graph), options_(options) {
    font_ = {
        .family = options.font_family, .size = options.font_size, .width_em = options.font_width};
    encoding_ =
        lower_case(options.encoding) == "utf-8" ? TextEncoding::kUtf8 : TextEncoding::kOneByte;
  }

  void write() {
    open();
    append_background_and_style();
    append_captions();
    for (const FlameBlock& block : graph_.blocks) append_block(block);
    fmt::format_to(std::back_inserter(text_),
                   "<script type=\"text/ecmascript\"><![CDATA[\n{}]]></script>\n",
                   flame_svg_script());
    close_svg(text_);
    out_.write_lines(text_);
  }

 private:
  /// A background that the user chose is kept.
  [[nodiscard]] bool may_be_dark() const { return options_.background.empty(); }
  void escape(std::string_view text) { append_escaped(text_, text, encoding_); }

  void open() {
    std::string attributes = fmt::format(
        " class=\"flames\" data-padding=\"{}\" data-font-size=\"{}\" data-font-width=\"{}\" "
        "data-fluid=\"{}\" data-inverted=\"{}\" data-name-type=\"",
        kFlamePadding, font_.size, font_.width_em, options_.fluid, options_.inverted);
    append_escaped(attributes, options_.name_type, encoding_);
    attributes += '"';
    if (may_be_dark()) attributes += " data-dark=\"\"";
    open_svg(text_, {.width = graph_.width,
                     .height = graph_.height,
                     .encoding = options_.encoding,
                     .attributes = attributes});
    if (!options_.notes.empty()) append_notes();
  }
  /// Two dashes would end the comment (XML 1.0, section 2.5).
  void append_notes() {
    std::string notes;
    append_escaped(notes, options_.notes, encoding_);
    for (size_t at = notes.find("--"); at != std::string::npos; at = notes.find("--"))
      notes.replace(at, 2, "- -");
    text_ += "<!-- NOTES: " + notes + " -->\n";
  }

  void append_background_and_style() {
    auto shades = flame_background(options_.background, options_.palette);
    append_background(text_, shades.value_or(SvgShades()), may_be_dark() ? &kDarkShades : nullptr);
    text_ += "<style>\n.flames text { font-family: ";
    append_font_family();
    fmt::format_to(std::back_inserter(text_), ", sans-serif; font-size: {}px; fill: #000; }}\n",
                   font_.size);
    fmt::format_to(std::back_inserter(text_),
                   ".flames .title {{ text-anchor: middle; font-size: {}px; }}\n"
                   ".flames .subtitle {{ text-anchor: middle; fill: #555; }}\n"
                   ".flames .right {{ text-anchor: end; }}\n"
                   ".flames .control {{ display: none; }}\n"
                   ".flames .frames g {{ pointer-events: all; }}\n"
                   ".flames .frames text {{ pointer-events: none; white-space: pre; }}\n",
                   font_.size + 5);
    // White boxes can only be told apart by their edges.
    if (options_.difference)
      text_ +=
          ".flames .frames rect { stroke: #ccc; stroke-width: 0.5; }\n"
          ".flames .frames rect.only { stroke: #b00; stroke-width: 1; stroke-dasharray: 3 2; }\n"
          ".flames .frames text.light { fill: #fff; }\n";
    if (may_be_dark())
      text_ +=
          "@media (prefers-color-scheme: dark) {\n"
          ".flames .caption { fill: #ddd; } .flames .subtitle { fill: #aaa; }\n}\n";
    text_ += "</style>\n";
  }
  /// As a CSS string; any character that could end it is dropped.
  void append_font_family() {
    text_ += '"';
    for (char c : options_.font_family)
      if (std::isalnum(static_cast<unsigned char>(c)) || c == ' ' || c == '-') text_ += c;
    text_ += '"';
  }

  void caption(double x, double y, std::string_view text, std::string_view classes) {
    append_text(text_, x, y, text, fmt::format(" class=\"caption {}\"", classes), encoding_);
    text_ += '\n';
  }
  void append_captions() {
    double middle = graph_.width / 2;
    double upper = font_.size * 2;
    caption(middle, upper, fit_text(graph_.title, graph_.width - 240, title_font(), encoding_),
            "title");
    if (!options_.subtitle.empty())
      caption(middle, font_.size * 4,
              fit_text(options_.subtitle, graph_.width - 2 * kFlamePadding, font_, encoding_),
              "subtitle");
    double right = graph_.width - kFlamePadding;
    double lower = graph_.height - (font_.size * 2 + 10) / 2;
    caption(kFlamePadding, upper, "Reset Zoom", "control reset");
    caption(right - font_.size * 2, upper, "Search", "control right search");
    caption(right, upper, "ic", "control right case");
    caption(kFlamePadding, lower, " ", "details");
    caption(right, lower, " ", "right matched");
  }
  [[nodiscard]] SvgFont title_font() const {
    SvgFont font = font_;
    font.size += 5;
    return font;
  }

  void append_block(const FlameBlock& block) {
    if (!block.heading.empty()) caption(kFlamePadding, block.heading_y, block.heading, "heading");
    text_ += "<g class=\"frames\">\n";
    for (const FlameBox& box : block.boxes) {
      append_box(box);
      // Pictures are large: they are written in chunks.
      if (text_.size() > kPiece) {
        out_.write_lines(text_);
        text_.clear();
      }
    }
    text_ += "</g>\n";
  }

  void append_box(const FlameBox& box) {
    auto found = options_.attributes.empty() ? options_.attributes.end()
                                             : options_.attributes.find(box.name);
    const FlameNameAttributes* given =
        found == options_.attributes.end() ? nullptr : &found->second;
    bool is_link = given != nullptr && !given->of_link.empty();
    if (is_link) {
      text_ += "<a";
      append_attributes(given->of_link);
      text_ += '>';
    }
    append_group(box, given);
    append_rect(text_, box.rect, box.fill,
                box.mark == FlameMark::kOnlyHere ? " rx=\"2\" ry=\"2\" class=\"only\""
                                                 : " rx=\"2\" ry=\"2\"");
    std::string label = fit_text(box.name, box.rect.width, font_, encoding_);
    double base_line = box.rect.y + box.rect.height / 2 + 0.5 + kTextInset;
    append_text(text_, box.rect.x + kTextInset, base_line, label,
                box.is_dark ? " class=\"light\"" : "", encoding_);
    text_ += is_link ? "</g></a>\n" : "</g>\n";
  }
  /// What the script needs to redraw the box.
  void append_group(const FlameBox& box, const FlameNameAttributes* given) {
    fmt::format_to(std::back_inserter(text_), "<g data-d=\"{}\" data-x=\"", box.depth);
    append_value(text_, box.start);
    text_ += "\" data-w=\"";
    append_value(text_, box.total);
    text_ += '"';
    if (given != nullptr) append_attributes(given->of_group);
    text_ += "><title>";
    if (given != nullptr && given->title) {
      escape(*given->title);
    } else {
      escape(box.name);
      escape(box.details);
    }
    text_ += "</title>";
  }
  void append_attributes(const std::vector<std::pair<std::string, std::string>>& attributes) {
    for (const auto& [name, value] : attributes) {
      text_ += ' ' + name + "=\"";
      escape(value);
      text_ += '"';
    }
  }

  static constexpr size_t kPiece = 64 * 1024;

  Sink& out_;
  const FlameGraph& graph_;
  const FlameOptions& options_;
  SvgFont font_;
  TextEncoding encoding_;
  std::string text_;
};

}  // namespace

void write_flame_svg(Sink& out, const FlameGraph& graph, const FlameOptions& options) {
  FlameSvgWriter(out, graph, options).write();
}

bool is_flame_encoding(std::string_view name) {
  std::string lower = lower_case(name);
  bool is_word = std::ranges::all_of(
      lower, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  constexpr std::string_view kOneByte[] = {"iso-8859-", "windows-125", "koi8-"};
  return lower == "utf-8" || lower == "us-ascii" ||
         (is_word && std::ranges::any_of(
                         kOneByte, [&](std::string_view each) { return lower.starts_with(each); }));
}

}  // namespace sonde
