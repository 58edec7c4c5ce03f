// Counts as separated fields:
//
//   [time] [for whom] [CPUs] value unit event [cgroup] [error]
//   running-time running-percent metric metric-unit
//
// Further metrics of an event are lines with all fields before the metric empty.
#include "base/printing/csv.h"
#include "render/counting_parts.h"

namespace sonde::render {
namespace {

using view::CountGrouping;

bool has_cpu_count(CountGrouping grouping) {
  return grouping != CountGrouping::kAll && grouping != CountGrouping::kCpu &&
         grouping != CountGrouping::kThread;
}

class CountCsv final : public CountWriter {
 public:
  CountCsv(const CountStyle& style, Sink& out) : style_(style), out_(out) {}

  void page(const view::CountPage& page) override {
    std::string time;
    if (page.time_ns)
      time = fmt::format("{:>16}{}", seconds_text(*page.time_ns), style_.separator);
    else if (page.is_summary && style_.csv_summary_column)
      time = fmt::format("{:>16}{}", "summary", style_.separator);
    if (style_.metric_only) return write_columns(page, time);
    for (const view::CountRow& row : page.rows) write_row(page, row, time);
  }

 private:
  [[nodiscard]] std::string unit_text(const view::CountPage& page,
                                      const view::CountRow& row) const {
    if (page.grouping == CountGrouping::kAll) return {};
    const view::CountUnit& unit = page.units[row.unit];
    std::string_view dash = unit.grouping == CountGrouping::kThread ? "-" : "";
    std::string text = csv_name(fmt::format("{}{}{}", unit.head, dash, unit.tail), style_.separator,
                                style_.quotes_formulas) +
                       style_.separator;
    if (has_cpu_count(page.grouping)) text += fmt::format("{}{}", row.cpus, style_.separator);
    return text;
  }

  [[nodiscard]] std::string cell(std::string_view text) const {
    return csv_name(text, "", style_.quotes_formulas);  // events have commas in perf's, too
  }

  void write_row(const view::CountPage& page, const view::CountRow& row, const std::string& time) {
    const view::CountEvent& event = page.events[row.event];
    const std::string& sep = style_.separator;
    std::string start = time + unit_text(page, row);
    out_.write(start);
    if (row.status == view::CountRow::Status::kCounted)
      out_.print("{:.{}f}", row.value, event.is_fraction ? 2 : 0);
    else
      out_.write(status_words(row.status));
    out_.print("{0}{1}{0}{2}", sep, event.unit, cell(event.name));
    if (!event.cgroup.empty())
      out_.print("{}{}", sep, csv_name(event.cgroup, sep, style_.quotes_formulas));
    if (style_.several_runs) out_.print("{}{:.2f}%", sep, row.error_percent);
    out_.print("{0}{1}{0}{2:.2f}", sep, row.running_ns, row.running_percent());
    if (row.metrics.empty()) out_.print("{0}{0}", sep);
    for (size_t i = 0; i < row.metrics.size(); ++i) {
      if (i > 0) write_empty_fields(start, event);
      write_metric(row.metrics[i]);
    }
    out_.put('\n');
  }

  void write_empty_fields(const std::string& start, const view::CountEvent& event) {
    out_.print("\n{}", start);
    size_t fields = 4 + (event.cgroup.empty() ? 0 : 1) + (style_.several_runs ? 1 : 0);
    for (size_t i = 0; i < fields; ++i) out_.write(style_.separator);
  }

  void write_metric(const view::CountMetric& metric) {
    const std::string& sep = style_.separator;
    if (metric.value)
      out_.print("{0}{1}{0}{2}", sep, bare_text(metric_text(metric)), metric.shown_unit());
    else
      out_.print("{0}{0}", sep);
  }

  void write_columns(const view::CountPage& page, const std::string& time) {
    MetricColumns columns = metric_columns(page);
    if (!has_titles_) write_titles(columns);
    has_titles_ = true;
    for (const MetricColumns::Line& line : columns.lines) {
      out_.print("{}{}", time, unit_text(page, *line.row));
      for (const view::CountMetric* metric : line.cells)
        out_.print("{}{}", metric ? bare_text(column_text(*metric)) : "", style_.separator);
      out_.put('\n');
    }
  }

  void write_titles(const MetricColumns& columns) {
    const std::string& sep = style_.separator;
    if (style_.intervals) out_.print(" time{}", sep);
    switch (style_.grouping) {
      case CountGrouping::kAll:
        break;
      case CountGrouping::kCpu:
        out_.print("cpu{}", sep);
        break;
      case CountGrouping::kThread:
        out_.print("comm-pid{}", sep);
        break;
      case CountGrouping::kCore:
        out_.print("core{0}cpus{0}", sep);
        break;
      case CountGrouping::kCluster:
        out_.print("cluster{0}cpus{0}", sep);
        break;
      case CountGrouping::kDie:
        out_.print("die{0}cpus{0}", sep);
        break;
      case CountGrouping::kSocket:
        out_.print("socket{0}cpus{0}", sep);
        break;
      case CountGrouping::kNode:
        out_.print("node{0}cpus{0}", sep);
        break;
      case CountGrouping::kCache:
        out_.print("cache{0}cpus{0}", sep);
        break;
    }
    for (const std::string& title : columns.titles) out_.print("{}{}", title, sep);
    out_.put('\n');
  }

  CountStyle style_;
  Sink& out_;
  bool has_titles_ = false;
};

}  // namespace

std::unique_ptr<CountWriter> make_count_csv(const CountStyle& style, Sink& out) {
  return std::make_unique<CountCsv>(style, out);
}

}  // namespace sonde::render
