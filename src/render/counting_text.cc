// Counts in human-readable form. The parts of a row are in fixed positions:
//
//   S0-D0-C0           1              22.75 msec task-clock        #    1.001 CPUs utilized
//   for whom        CPUs              value unit event               metric
//
// followed by
//
//   ( +-  2.11% )  (33.33%)
//   error          running
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "render/color.h"
#include "render/counting_parts.h"

namespace sonde::render {
namespace {

using view::CountGrouping;

constexpr size_t kValueWidth = 18, kMinUnitWidth = 4;
constexpr size_t kNameWidth = 32, kUncountedNameWidth = 25;
constexpr size_t kMetricWidth = 35, kColumnWidth = 20;
constexpr size_t kBeforeFurtherMetric = 49;
constexpr int kIntervalsPerHeading = 25;
constexpr Escape kYellow{"\033[33m"}, kMagenta{"\033[35m"};
constexpr Escape kClearScreen{"\033[H\033[2J"};

std::string padded(std::string_view text, size_t width) {
  return fmt::format("{:<{}}", text, width);
}

/// 1234567 as "1,234,567".
std::string grouped(std::string digits, std::string_view separator) {
  if (separator.empty()) return digits;
  size_t end = std::min(digits.find('.'), digits.size());
  size_t begin = digits.starts_with('-') ? 1 : 0;
  for (size_t at = end; at > begin + 3; at -= 3) digits.insert(at - 3, separator);
  return digits;
}

/// Number of decimals, enough to show two significant digits of the error.
int precision_for(double error_s) {
  constexpr int kMax = 9;
  if (error_s > 1) return 2;
  if (error_s <= 0) return kMax;
  return std::min(static_cast<int>(std::ceil(-std::log10(error_s))) + 2, kMax);
}

class CountText final : public CountWriter {
 public:
  CountText(const CountStyle& style, Sink& out) : style_(style), out_(out) {}

  void begin(const view::CountSummary& summary) override {
    out_.print("\n Performance counter stats for {}", summary.title);
    if (summary.runs > 1) out_.print(" ({} runs)", summary.runs);
    out_.write(":\n\n");
  }

  void page(const view::CountPage& page) override {
    has_events_ = !page.events.empty();
    unit_width_ = kMinUnitWidth;
    for (const view::CountEvent& event : page.events)
      unit_width_ = std::max(unit_width_, event.unit.size());
    if (page.time_ns) begin_interval(page);
    std::string time = page.time_ns ? fmt::format("{:>16} ", seconds_text(*page.time_ns)) : "";
    if (style_.metric_only) return write_columns(page, time);
    for (const view::CountRow& row : page.rows) write_row(page, row, time);
  }

  void end(const view::CountSummary& summary) override {
    if (summary.elapsed_s.empty()) return;
    if (has_events_) out_.put('\n');
    if (summary.runs > 1) {
      write_mean(summary);
    } else {
      out_.print(" {:17.9f} seconds time elapsed", summary.mean_s);
      if (summary.cpu)
        out_.print("\n\n {:17.9f} seconds user\n {:17.9f} seconds sys\n", summary.cpu->user_s,
                   summary.cpu->system_s);
    }
    out_.write("\n\n");
  }

 private:
  // --- intervals ---

  void begin_interval(const view::CountPage& page) {
    if (style_.clear_screen) out_.write(kClearScreen);
    if (style_.clear_screen || intervals_ % kIntervalsPerHeading == 0) write_heading(page);
    ++intervals_;
  }

  void write_heading(const view::CountPage& page) {
    if (style_.metric_only) {
      out_.write("#           time ");
      return write_titles(page);
    }
    out_.print("#           time {}counts {:>{}} events\n", heading(), "unit", unit_width_);
  }

  [[nodiscard]] std::string_view heading() const {
    switch (style_.grouping) {
      case CountGrouping::kCpu:
        return "CPU                    ";
      case CountGrouping::kSocket:
        return "socket cpus             ";
      case CountGrouping::kNode:
        return "node   cpus             ";
      case CountGrouping::kCluster:
        return "cluster          cpus             ";
      case CountGrouping::kDie:
        return "die          cpus             ";
      case CountGrouping::kCore:
        return "core            cpus             ";
      case CountGrouping::kCache:
        return "cache              cpus             ";
      case CountGrouping::kThread:
        return "            comm-pid                  ";
      default:
        return "            ";
    }
  }

  // --- rows ---

  [[nodiscard]] std::string unit_text(const view::CountPage& page,
                                      const view::CountRow& row) const {
    if (page.grouping == CountGrouping::kAll) return {};
    const view::CountUnit& unit = page.units[row.unit];
    if (unit.grouping == CountGrouping::kThread)
      return fmt::format("{:>16}-{:<8} ", unit.head, unit.tail);
    if (page.grouping == CountGrouping::kCpu) {
      size_t width = unit.grouping == CountGrouping::kCpu ? 7 : 3;
      return unit.head + padded(unit.tail, width) + " ";
    }
    bool is_short =
        page.grouping == CountGrouping::kSocket || page.grouping == CountGrouping::kNode;
    return fmt::format("{}{:<{}} {:>4} ", unit.head, unit.tail, is_short ? 5 : 8, row.cpus);
  }

  [[nodiscard]] std::string value_text(const view::CountEvent& event,
                                       const view::CountRow& row) const {
    if (row.status != view::CountRow::Status::kCounted)
      return std::string(status_words(row.status));
    return grouped(fmt::format("{:.{}f}", row.value, event.is_fraction ? 2 : 0), style_.thousands);
  }

  void write_row(const view::CountPage& page, const view::CountRow& row, const std::string& time) {
    const view::CountEvent& event = page.events[row.event];
    std::string whom = unit_text(page, row);
    bool counted = row.status == view::CountRow::Status::kCounted;
    out_.print("{}{}{:>{}} {:<{}} {:<{}}", time, whom, value_text(event, row), kValueWidth,
               event.unit, unit_width_, event.name, counted ? kNameWidth : kUncountedNameWidth);
    if (!event.cgroup.empty()) out_.print(" {}", event.cgroup);
    if (row.metrics.empty()) out_.write(std::string(kMetricWidth, ' '));
    for (size_t i = 0; i < row.metrics.size(); ++i) {
      if (i > 0) {
        size_t indent = kBeforeFurtherMetric + (page.grouping == CountGrouping::kCpu ? 8 : 0);
        out_.print("\n{}{}{}", time, whom, std::string(indent, ' '));
      }
      write_metric(row.metrics[i]);
    }
    if (style_.several_runs) write_error(row.error_percent);
    if (row.running_ns != row.enabled_ns) out_.print("  ({:.2f}%)", row.running_percent());
    out_.put('\n');
  }

  void write_metric(const view::CountMetric& metric) {
    std::string number = metric_text(metric);
    if (number.empty()) return out_.write(std::string(kMetricWidth, ' '));
    constexpr std::string_view kMark = " # ";
    size_t used = kMark.size() + number.size() + 1;
    out_.write(kMark);
    write_colored(number, metric.level);
    out_.print(" {:<{}}", metric.shown_unit(), kMetricWidth > used ? kMetricWidth - used : 0);
  }

  void write_colored(const std::string& text, view::CountMetric::Level level) {
    using Level = view::CountMetric::Level;
    if (!style_.color || level == Level::kPlain) return out_.write(text);
    Escape color = level == Level::kVeryHigh ? kRed : level == Level::kHigh ? kMagenta : kYellow;
    out_.print("{}{}{}", color, text, kReset);
  }

  void write_error(double percent) {
    if (percent != 0) out_.print("  ( +-{:6.2f}% )", percent);
  }

  // --- --metric-only ---

  void write_titles(const view::CountPage& page) {
    MetricColumns columns = metric_columns(page);
    if (!columns.lines.empty())
      out_.write(std::string(unit_text(page, *columns.lines.front().row).size(), ' '));
    for (const std::string& title : columns.titles) out_.print("{:>{}} ", title, kColumnWidth);
    out_.put('\n');
  }

  void write_columns(const view::CountPage& page, const std::string& time) {
    if (!page.time_ns) write_titles(page);
    MetricColumns columns = metric_columns(page);
    for (const MetricColumns::Line& line : columns.lines) {
      out_.print("{}{}", time, unit_text(page, *line.row));
      for (size_t i = 0; i < line.cells.size(); ++i) {
        const view::CountMetric* metric = line.cells[i];
        std::string number = metric ? column_text(*metric) : "";
        size_t width = std::max(kColumnWidth, columns.titles[i].size());
        std::string gap(width > number.size() ? width - number.size() : 0, ' ');
        out_.write(gap);
        write_colored(number, metric ? metric->level : view::CountMetric::Level::kPlain);
        out_.put(' ');
      }
      out_.put('\n');
    }
  }

  // --- times ---

  void write_mean(const view::CountSummary& summary) {
    int precision = precision_for(summary.error_s);
    if (style_.run_table) write_run_table(summary, precision);
    out_.print(" {:17.{}f} +- {:.{}f} seconds time elapsed", summary.mean_s, precision,
               summary.error_s, precision);
    if (summary.mean_s > 0) write_error(100 * summary.error_s / summary.mean_s);
  }

  void write_run_table(const view::CountSummary& summary, int precision) {
    std::string mean = fmt::format(" {:17.{}f}", summary.mean_s, precision);
    std::string indent(std::min(mean.find_first_not_of(' '), mean.size()), ' ');
    out_.print("{}# Table of individual measurements:\n", indent);
    for (double run : summary.elapsed_s) {
      double from_mean = run - summary.mean_s;
      constexpr int kPercentPerMark = 5;
      int percent = run > 0 ? static_cast<int>(100 * from_mean / run) : 0;
      size_t marks = 1 + static_cast<size_t>(std::abs(percent) / kPercentPerMark);
      out_.print(" {:17.{}f} ({:+.{}f}) {}\n", run, precision, from_mean, precision,
                 std::string(marks, '#'));
    }
    out_.print("\n{}# Final result:\n", indent);
  }

  CountStyle style_;
  Sink& out_;
  size_t unit_width_ = kMinUnitWidth;
  int intervals_ = 0;
  bool has_events_ = false;
};

}  // namespace

std::unique_ptr<CountWriter> make_count_text(const CountStyle& style, Sink& out) {
  return std::make_unique<CountText>(style, out);
}

}  // namespace sonde::render
