#include "histogram/histogram_svg.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "export/pictures/axis.h"
#include "export/pictures/svg.h"
#include "histogram/histogram_text.h"

namespace sonde {
namespace {

// px
constexpr double kPageWidth = 900, kMargin = 16, kLeft = 70, kChartHeight = 150;
constexpr double kLine = 18, kFontSize = 12;
constexpr std::string_view kStyle = R"(<style>
svg { font-family: Verdana, sans-serif; font-size: 12px; }
.page { fill: #ffffff; } text { fill: #202020; } .soft { fill: #606060; }
.bar { fill: #3b74b8; } .bar:hover { fill: #d9822b; } .line { stroke: #d8d8d8; }
@media (prefers-color-scheme: dark) {
.page { fill: #1b1d20; } text { fill: #e8e8e8; } .soft { fill: #a8a8a8; }
.bar { fill: #6ea3e0; } .line { stroke: #404449; }
}
</style>
<rect class="page" width="100%" height="100%"/>
)";

class HistogramsSvg {
 public:
  HistogramsSvg(const HistogramSet& set, size_t most)
      : set_(set), shown_(std::min(most, set.histograms.size())) {}

  std::string draw() && {
    double chart = kLine * 2 + kChartHeight + kLine * 2.5;
    double heading = kMargin + kLine * 3;
    auto lines = static_cast<double>(set_.remarks.size() + 1);
    open_svg(svg_, {.width = kPageWidth,
                    .height = heading + chart * static_cast<double>(std::max<size_t>(shown_, 1)) +
                              kLine * lines});
    svg_ += kStyle;
    SvgFont bold{.size = kFontSize * 1.5, .width_em = kBoldWidthEm};
    text(kMargin, kMargin + bold.size, fit_text(set_.title, kPageWidth - 2 * kMargin, bold),
         R"( font-size="18" font-weight="bold")");
    text(kMargin, kMargin + kLine * 2.2, subtitle(), " class=\"soft\"");
    double y = heading;
    for (size_t i = 0; i < shown_; ++i, y += chart) draw_chart(set_.histograms[i], y);
    if (shown_ == 0) y += chart;
    for (const std::string& remark : set_.remarks) {
      text(kMargin, y, cut_text(remark, 110), " class=\"soft\"");
      y += kLine;
    }
    close_svg(svg_);
    return std::move(svg_);
  }

 private:
  void text(double x, double y, std::string_view words, std::string_view attributes) {
    append_text(svg_, x, y, words, attributes);
    svg_ += '\n';
  }
  [[nodiscard]] std::string subtitle() const {
    std::string words = fmt::format("{} events", grouped(static_cast<double>(set_.events())));
    if (set_.seconds > 0) words += " in " + duration_text(set_.seconds * 1e9);
    if (shown_ < set_.histograms.size())
      words += fmt::format("; {} of {} histograms", shown_, set_.histograms.size());
    return words;
  }

  void draw_chart(const Histogram& histogram, double top) {
    SvgFont font{.size = kFontSize, .width_em = kBoldWidthEm};
    double room = kPageWidth - 2 * kMargin;
    if (!set_.key_name.empty())
      text(kMargin, top + kLine * 0.5, fit_text(key_text(set_, histogram), room, font),
           " font-weight=\"bold\"");
    text(kMargin, top + kLine * 1.5, fit_text(summary_text(set_, histogram), room, {}),
         " class=\"soft\"");
    int32_t first = histogram.buckets.begin()->first, last = histogram.buckets.rbegin()->first;
    most_ = 1;
    for (const auto& [bucket, events] : histogram.buckets) most_ = std::max(most_, events);
    top_ = top + kLine * 2;
    draw_scale();
    double width = kPageWidth - kLeft - kMargin;
    double column = std::min(48.0, width / (last - first + 1));
    for (const auto& [bucket, events] : histogram.buckets)
      draw_column(histogram, bucket, kLeft + (bucket - first) * column, column);
    draw_labels(first, last, column);
  }

  void draw_scale() {
    constexpr size_t kMostTicks = 4;
    for (double tick : round_ticks(0, static_cast<double>(most_), kMostTicks)) {
      if (tick != std::floor(tick)) continue;
      double y = top_ + kChartHeight * (1 - tick / static_cast<double>(most_));
      svg_ += fmt::format(
          "<line class=\"line\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n",
          kLeft, kPageWidth - kMargin, y);
      text(kLeft - 6, y + 4, short_number(tick), R"( class="soft" text-anchor="end")");
    }
  }

  void draw_column(const Histogram& histogram, int32_t bucket, double x, double width) {
    uint64_t events = histogram.buckets.at(bucket);
    double height =
        std::max(1.0, kChartHeight * static_cast<double>(events) / static_cast<double>(most_));
    double share = static_cast<double>(events) / static_cast<double>(histogram.count) * 100;
    BucketEnds ends = bucket_ends(set_, bucket);
    std::string range = ends.first.empty()        ? "up to " + ends.last
                        : ends.last.empty()       ? ends.first + " and up"
                        : ends.first == ends.last ? ends.first
                                                  : ends.first + " .. " + ends.last;
    svg_ += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>",
        x, top_ + kChartHeight - height, std::max(0.5, width - 1), height);
    append_escaped(svg_, fmt::format("{} {}: {} events, {:.1f}%", set_.value_name, range,
                                     grouped(static_cast<double>(events)), share));
    svg_ += "</title></rect>\n";
  }

  /// Where each column begins; only every second, third … if there is no room for all.
  void draw_labels(int32_t first, int32_t last, double column) {
    constexpr double kCharacter = kFontSize * 0.62;
    size_t widest = 1;
    for (int32_t bucket = first; bucket <= last; ++bucket)
      widest = std::max(widest, label_of(bucket).size());
    auto every = static_cast<int32_t>((static_cast<double>(widest) + 1) * kCharacter / column) + 1;
    for (int32_t bucket = first; bucket <= last; bucket += every)
      text(kLeft + (bucket - first) * column, top_ + kChartHeight + kLine, label_of(bucket),
           " class=\"soft\"");
  }
  [[nodiscard]] std::string label_of(int32_t bucket) const {
    BucketEnds ends = bucket_ends(set_, bucket);
    return ends.first.empty() ? "below" : ends.first;
  }

  const HistogramSet& set_;
  size_t shown_;
  std::string svg_;
  double top_ = 0;
  uint64_t most_ = 1;  // events in a column of this chart
};

}  // namespace

void write_histograms_svg(Sink& out, const HistogramSet& set, size_t most) {
  out.write_lines(HistogramsSvg(set, most).draw());
}

}  // namespace sonde
