// Counts as perf's JSON: one object per line, with counts as strings.
#include "render/counting_parts.h"
#include "render/json_text.h"

namespace sonde::render {
namespace {

using view::CountGrouping;

class CountJson final : public CountWriter {
 public:
  CountJson(const CountStyle& style, Sink& out) : style_(style), out_(out) {}

  void page(const view::CountPage& page) override {
    std::string time;
    if (page.time_ns) time = fmt::format("\"interval\" : {}, ", seconds_text(*page.time_ns));
    if (style_.metric_only) return write_columns(page, time);
    for (const view::CountRow& row : page.rows) write_row(page, row, time);
  }

 private:
  [[nodiscard]] static std::string_view key_of(CountGrouping grouping) {
    switch (grouping) {
      case CountGrouping::kCpu:
        return "cpu";
      case CountGrouping::kThread:
        return "thread";
      case CountGrouping::kCore:
        return "core";
      case CountGrouping::kCluster:
        return "cluster";
      case CountGrouping::kDie:
        return "die";
      case CountGrouping::kSocket:
        return "socket";
      case CountGrouping::kNode:
        return "node";
      case CountGrouping::kCache:
        return "cache";
      default:
        return {};
    }
  }

  [[nodiscard]] static std::string unit_text(const view::CountPage& page,
                                             const view::CountRow& row) {
    if (page.grouping == CountGrouping::kAll) return {};
    const view::CountUnit& unit = page.units[row.unit];
    std::string_view key = key_of(unit.grouping);
    if (unit.grouping == CountGrouping::kCpu)
      return fmt::format("\"{}\" : \"{}\", ", key, unit.tail);
    if (unit.grouping == CountGrouping::kThread)
      return fmt::format("\"{}\" : {}, ", key, json_string(unit.head + "-" + unit.tail));
    std::string text = fmt::format("\"{}\" : \"{}{}\", ", key, unit.head, unit.tail);
    if (page.grouping != CountGrouping::kCpu)
      text += fmt::format("\"aggregate-number\" : {}, ", row.cpus);
    return text;
  }

  void write_row(const view::CountPage& page, const view::CountRow& row, const std::string& time) {
    const view::CountEvent& event = page.events[row.event];
    std::string start = time + unit_text(page, row);
    out_.print("{{{}\"counter-value\" : ", start);
    if (row.status == view::CountRow::Status::kCounted)
      out_.print("\"{:f}\", ", row.value);
    else
      out_.print("\"{}\", ", status_words(row.status));
    out_.print("\"unit\" : {}, \"event\" : {}, ", json_string(event.unit), json_string(event.name));
    if (!event.cgroup.empty()) out_.print("\"cgroup\" : {}, ", json_string(event.cgroup));
    if (style_.several_runs) out_.print("\"variance\" : {:.2f}, ", row.error_percent);
    out_.print("\"event-runtime\" : {}, \"pcnt-running\" : {:.2f}, ", row.running_ns,
               row.running_percent());
    bool counted = row.status == view::CountRow::Status::kCounted;
    if (row.metrics.empty() || !counted)
      return out_.write("\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
    for (size_t i = 0; i < row.metrics.size(); ++i) {
      if (i > 0) out_.print("\n{{{}", start);
      out_.print("\"metric-value\" : {:f}, \"metric-unit\" : {}}}", row.metrics[i].shown_value(),
                 json_string(row.metrics[i].shown_unit()));
    }
    out_.put('\n');
  }

  void write_columns(const view::CountPage& page, const std::string& time) {
    MetricColumns columns = metric_columns(page);
    for (const MetricColumns::Line& line : columns.lines) {
      std::string text = time + unit_text(page, *line.row);
      for (size_t i = 0; i < line.cells.size(); ++i)
        if (line.cells[i] && line.cells[i]->value)
          text += fmt::format("{} : \"{}\", ", json_string(columns.titles[i]),
                              bare_text(column_text(*line.cells[i])));
      if (text.ends_with(", ")) text.resize(text.size() - 2);
      out_.print("{{{}}}\n", text);
    }
  }

  CountStyle style_;
  Sink& out_;
};

}  // namespace

std::unique_ptr<CountWriter> make_count_json(const CountStyle& style, Sink& out) {
  return std::make_unique<CountJson>(style, out);
}

}  // namespace sonde::render
