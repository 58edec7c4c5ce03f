#include "export/pictures/heat_map_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "export/pictures/axis.h"
#include "export/pictures/svg.h"

namespace sonde {

std::string_view heat_map_view_script();
std::string_view heat_map_view_css();

namespace {

constexpr size_t kShades = 12;
constexpr double kSecondNs = 1e9;
constexpr double kPageMargin = 16;
constexpr double kNarrowestPage = 640;
constexpr double kWidestThatShrinks = 2400;

/// Allows no character that is special in CSS or XML.
bool is_part_of_font_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view(" ,-_").find(c) != std::string_view::npos;
}

class HeatMapSvg {
 public:
  HeatMapSvg(Sink& out, const view::HeatMap& map, const HeatMapStyle& style)
      : out_(out), map_(map), style_(style), line_(style.font_size * 1.5) {}

  void write() {
    place();
    open_svg(svg_, {.width = page_width_,
                    .height = page_height_,
                    .attributes = page_width_ > kWidestThatShrinks ? "" : " class=\"shrinks\""});
    write_css();
    write_heading();
    write_legend();
    write_value_axis();
    write_time_axis();
    write_cells();
    write_script();
    close_svg(svg_);
    out_.write_lines(svg_);
  }

 private:
  void place() {
    auto columns = static_cast<double>(map_.columns);
    auto rows = static_cast<double>(map_.rows());
    // A map of seconds may have only a few columns.
    double widest = style_.is_second_map ? 60 : 24;
    box_width_ = style_.box_size.value_or(std::clamp(std::floor(1000 / columns), 3.0, widest));
    box_height_ = style_.box_size.value_or(std::clamp(std::floor(420 / rows), 8.0, 20.0));
    left_ = std::round(kPageMargin + style_.font_size * 6);
    top_ = std::round(kPageMargin + line_ * 5.2);
    width_ = columns * box_width_;
    height_ = rows * box_height_;
    page_width_ = std::max(kNarrowestPage, left_ + width_ + kPageMargin * 2);
    page_height_ = top_ + height_ + line_ * 5.6;
  }

  void write_css() {
    std::string family = style_.font_family;
    std::erase_if(family, [](char c) { return !is_part_of_font_name(c); });
    fmt::format_to(std::back_inserter(svg_),
                   "<style>\n{}svg {{ font-family: {}; font-size: {}px; }}\n</style>\n"
                   "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
                   heat_map_view_css(), family, style_.font_size);
  }

  void text(double x, double y, std::string_view words, std::string_view attributes) {
    append_text(svg_, x, y, words, attributes);
    svg_ += '\n';
  }

  void write_heading() {
    SvgFont font{.size = style_.font_size * 1.5, .width_em = kBoldWidthEm};
    text(kPageMargin, kPageMargin + style_.font_size * 1.4,
         fit_text(style_.title, page_width_ - kPageMargin * 2, font),
         fmt::format(" class=\"title\" font-size=\"{}\"", font.size));
    text(kPageMargin, kPageMargin + line_ * 2.2, note(), " class=\"soft\"");
    text(kPageMargin, top_ - style_.font_size * 0.8, cut_text(style_.y_label, 60),
         " class=\"soft\"");
    text(left_ + width_ / 2, top_ + height_ + line_ * 2.3, cut_text(style_.x_label, 120),
         " class=\"soft\" text-anchor=\"middle\"");
    text(kPageMargin, top_ + height_ + line_ * 3.7, " ", " id=\"details\"");
    text(kPageMargin, top_ + height_ + line_ * 4.9,
         style_.clock_start_ns ? "Two clicks choose a range of time." : " ",
         " id=\"range\" class=\"soft\"");
  }
  [[nodiscard]] std::string note() const {
    std::string words = style_.note;
    auto add = [&](uint64_t count, std::string_view where) {
      if (count > 0)
        words += fmt::format("{}{} {}", words.empty() ? "" : "; ",
                             grouped(static_cast<double>(count)), where);
    };
    add(map_.below, "below the axis");
    add(map_.above, "above the axis");
    add(map_.beyond, "behind the last column");
    return words;
  }

  // Shades grow with a power of the count, chosen so that a single event gets the second shade and
  // the largest count the last: one event is visible beside thousands.

  [[nodiscard]] double shade_power() const {
    double largest = std::max<double>(largest_, kShades);
    return std::log(static_cast<double>(kShades)) / std::log(largest);
  }
  [[nodiscard]] size_t shade_of(uint32_t count) const {
    double share = std::pow(count / static_cast<double>(largest_), shade_power());
    return std::min(kShades - 1, static_cast<size_t>(share * kShades + 1e-9));
  }
  [[nodiscard]] double least_of_shade(size_t shade) const {
    double share = std::pow(static_cast<double>(shade) / kShades, 1 / shade_power());
    return std::max(1.0, std::ceil(share * static_cast<double>(largest_)));
  }

  void write_legend() {
    for (uint32_t count : map_.counts) largest_ = std::max(largest_, count);
    constexpr double kWidth = 20;
    size_t first = shade_of(1);
    size_t middle = (first + kShades) / 2;
    double right = page_width_ - kPageMargin;
    double y = top_ - line_ * 1.9;
    auto x_of = [&](size_t shade) { return right - kWidth * static_cast<double>(kShades - shade); };
    for (size_t shade = first; shade < kShades; ++shade)
      append_rect(svg_,
                  {.x = x_of(shade), .y = y, .width = kWidth, .height = style_.font_size * 0.8}, "",
                  fmt::format(" class=\"h{}\"", shade));
    auto label = [&](double x, std::string_view words, std::string_view anchor) {
      text(x, y + style_.font_size * 1.9, words,
           fmt::format(" class=\"soft\" text-anchor=\"{}\"", anchor));
    };
    if (largest_ == 1) return label(right, "1 event", "end");
    label(x_of(first), "1 event", "start");
    if (largest_ > kShades) label(x_of(middle), short_number(least_of_shade(middle)), "middle");
    label(right, short_number(static_cast<double>(largest_)), "end");
  }

  // Axes.

  [[nodiscard]] std::string value_text(double value) const {
    if (style_.is_second_map) return time_text(value);
    if (style_.ns_per_value) return time_text(value * *style_.ns_per_value);
    bool is_large = std::abs(value) >= 10'000 && value == std::floor(value);
    return (is_large ? grouped(value) : plain_number(value)) + style_.unit;
  }
  [[nodiscard]] double row_y(size_t edge) const {
    return top_ + height_ - static_cast<double>(edge) * box_height_;
  }
  void value_label(size_t edge) {
    double y = row_y(edge);
    fmt::format_to(std::back_inserter(svg_), "<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>",
                   style_.grid ? "grid" : "tick", left_ - 5, y,
                   style_.grid ? left_ + width_ : left_);
    text(left_ - 8, y + style_.font_size * 0.35, value_text(map_.row_edges[edge]),
         " class=\"soft\" text-anchor=\"end\"");
  }
  [[nodiscard]] bool is_power_of_ten(size_t edge) const {
    double power = std::log10(std::max(map_.row_edges[edge], 1e-300));
    return std::abs(power - std::round(power)) < 1e-6;
  }
  void write_value_axis() {
    fmt::format_to(std::back_inserter(svg_),
                   "<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", left_, top_,
                   top_ + height_);
    std::vector<size_t> edges;
    if (map_.is_log)
      for (size_t edge = 0; edge <= map_.rows(); ++edge)
        if (is_power_of_ten(edge)) edges.push_back(edge);
    if (edges.size() < 2) {
      edges.clear();
      double apart = style_.font_size * 2.6;
      auto every = static_cast<size_t>(std::max(1.0, std::ceil(apart / box_height_)));
      for (size_t allowed : {1u, 2u, 5u, 10u, 20u, 50u, 100u})
        if (allowed >= every) {
          every = allowed;
          break;
        }
      for (size_t edge = 0; edge <= map_.rows(); edge += every) edges.push_back(edge);
    }
    for (size_t edge : edges) value_label(edge);
  }

  void write_time_axis() {
    fmt::format_to(std::back_inserter(svg_),
                   "<path class=\"axis\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>", left_, top_ + height_,
                   left_ + width_);
    double span = static_cast<double>(map_.columns) * map_.x_step;
    auto most = static_cast<size_t>(std::max(1.0, width_ / (style_.font_size * 7)));
    for (double tick : round_ticks(0, span, most)) {
      if (style_.is_second_map && tick != std::floor(tick)) continue;
      double x = left_ + tick / map_.x_step * box_width_;
      fmt::format_to(std::back_inserter(svg_), "<path class=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
                     style_.grid ? "grid" : "tick", x, style_.grid ? top_ : top_ + height_,
                     top_ + height_ + 5);
      text(x, top_ + height_ + line_, x_text(tick), " class=\"soft\" text-anchor=\"middle\"");
    }
  }
  [[nodiscard]] std::string x_text(double tick_s) const {
    if (!style_.is_second_map) return time_text(tick_s * kSecondNs);
    return fmt::format("{} s", first_second() + static_cast<uint64_t>(tick_s));
  }
  [[nodiscard]] uint64_t first_second() const {
    return style_.clock_start_ns.value_or(0) / 1'000'000'000;
  }

  // Boxes.

  void write_cells() {
    fmt::format_to(std::back_inserter(svg_),
                   "<g id=\"cells\" transform=\"translate({:.1f},{:.1f})\">\n", left_, top_);
    for (size_t column = 0; column < map_.columns; ++column) write_column(column);
    svg_ += "</g>\n<g id=\"chosen\"></g>\n";
  }
  void write_column(size_t column) {
    uint64_t total = 0, so_far = 0;
    for (size_t row = 0; row < map_.rows(); ++row) total += map_.count(column, row);
    for (size_t row = 0; row < map_.rows(); ++row) {
      uint32_t count = map_.count(column, row);
      if (count == 0) continue;
      so_far += count;
      fmt::format_to(std::back_inserter(svg_),
                     "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" class=\"h{}\">"
                     "<title>",
                     static_cast<double>(column) * box_width_,
                     static_cast<double>(map_.rows() - 1 - row) * box_height_, box_width_,
                     box_height_, shade_of(count));
      append_escaped(svg_, cell_text(column, row, count, so_far, total));
      svg_ += "</title></rect>\n";
    }
    if (svg_.size() > kFlushAt) {
      out_.write_lines(svg_);
      svg_.clear();
    }
  }
  [[nodiscard]] std::string cell_text(size_t column, size_t row, uint32_t count, uint64_t so_far,
                                      uint64_t total) const {
    std::string low = value_text(map_.row_edges[row]);
    std::string high = value_text(map_.row_edges[row + 1]);
    std::string events = fmt::format("{} {}", grouped(count), count == 1 ? "event" : "events");
    if (style_.is_second_map)
      return fmt::format("{} s and {} to {}: {}", first_second() + column, low, high, events);
    double from = static_cast<double>(column) * map_.x_step;
    auto share = [&](uint64_t part) {
      return 100.0 * static_cast<double>(part) / static_cast<double>(total);
    };
    return fmt::format("{} to {}, {} to {}: {}, {:.1f} % of this time's, {:.1f} % up to here",
                       time_text(from * kSecondNs), time_text((from + map_.x_step) * kSecondNs),
                       low, high, events, share(count), share(so_far));
  }

  void write_script() {
    std::string before, behind;
    append_script_string(before, style_.before_range);
    append_script_string(behind, style_.behind_range);
    fmt::format_to(
        std::back_inserter(svg_),
        "<script><![CDATA[\nconst map = {{left:{},top:{},boxWidth:{},boxHeight:{},columns:{},"
        "rows:{},stepNs:{},secondMap:{},startSecond:{},startRest:{},before:{},behind:{}}};\n",
        left_, top_, box_width_, box_height_, map_.columns, map_.rows(),
        plain_number(map_.x_step * kSecondNs, 15), style_.is_second_map,
        style_.clock_start_ns ? fmt::format("{}", first_second()) : "null",
        style_.clock_start_ns.value_or(0) % 1'000'000'000, before, behind);
    svg_ += heat_map_view_script();
    svg_ += "]]></script>\n";
  }

  static constexpr size_t kFlushAt = size_t{1} << 20;
  Sink& out_;
  const view::HeatMap& map_;
  const HeatMapStyle& style_;
  double line_;  // px from one line of text to the next
  double box_width_ = 0, box_height_ = 0, left_ = 0, top_ = 0, width_ = 0, height_ = 0;
  double page_width_ = 0, page_height_ = 0;
  uint32_t largest_ = 1;
  std::string svg_;
};

}  // namespace

void write_heat_map_svg(Sink& out, const view::HeatMap& map, const HeatMapStyle& style) {
  HeatMapSvg(out, map, style).write();
}

}  // namespace sonde
