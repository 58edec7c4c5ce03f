// Counts as a JSON document with numbers (--json=2): what was measured, and every event with its
// value, its individual runs and its metrics. docs/counting.md describes the fields. Each interval
// of -I is a separate document on one line.
#include "render/counting_parts.h"
#include "render/json_text.h"

namespace sonde::render {
namespace {

using view::CountGrouping;

std::string number_list(const std::vector<double>& values) {
  std::string list;
  for (double value : values) list += (list.empty() ? "" : ",") + json_number(value);
  return "[" + list + "]";
}

std::string_view status_name(view::CountRow::Status status) {
  switch (status) {
    case view::CountRow::Status::kNotCounted:
      return "not counted";
    case view::CountRow::Status::kNotSupported:
      return "not supported";
    default:
      return "counted";
  }
}

std::string_view grouping_name(CountGrouping grouping) {
  constexpr std::string_view kNames[] = {"all", "cpu",    "thread", "core", "cluster",
                                         "die", "socket", "node",   "cache"};
  static_assert(std::size(kNames) == static_cast<size_t>(CountGrouping::kCache) + 1);
  return kNames[static_cast<size_t>(grouping)];
}

class CountDocument final : public CountWriter {
 public:
  explicit CountDocument(Sink& out) : out_(out) {}

  void page(const view::CountPage& page) override {
    std::string rows;
    for (const view::CountRow& row : page.rows) {
      if (!rows.empty()) rows += ",";
      rows += row_text(page, row);
    }
    counts_ = "[" + rows + "]";
    if (!page.time_ns) return;
    out_.print("{{\"version\":2,\"interval_end_s\":{},\"counts\":{}}}\n",
               seconds_text(*page.time_ns), counts_);
    counts_.clear();
  }

  void end(const view::CountSummary& summary) override {
    std::string command;
    for (const std::string& word : summary.command)
      command += (command.empty() ? "" : ",") + json_string(word);
    out_.print("{{\"version\":2,\"target\":{},\"command\":[{}],\"runs\":{},",
               json_string(summary.title), command, summary.elapsed_s.size());
    out_.print("\"elapsed_s\":{{\"mean\":{},\"error\":{},\"runs\":{}}},",
               json_number(summary.mean_s), json_number(summary.error_s),
               number_list(summary.elapsed_s));
    if (summary.cpu)
      out_.print("\"user_s\":{},\"system_s\":{},", json_number(summary.cpu->user_s),
                 json_number(summary.cpu->system_s));
    out_.print("\"counts\":{}}}\n", counts_.empty() ? "[]" : counts_);
  }

 private:
  static std::string row_text(const view::CountPage& page, const view::CountRow& row) {
    const view::CountEvent& event = page.events[row.event];
    bool counted = row.status == view::CountRow::Status::kCounted;
    std::string text =
        fmt::format("{{\"event\":{},\"status\":\"{}\",\"value\":{},\"unit\":{}",
                    json_string(event.name), status_name(row.status),
                    counted ? json_number(row.value) : "null", json_string(event.unit));
    if (!event.cgroup.empty()) text += ",\"cgroup\":" + json_string(event.cgroup);
    if (page.grouping != CountGrouping::kAll) text += unit_text(page, row);
    text += fmt::format(",\"enabled_ns\":{},\"running_ns\":{},\"running_percent\":{:.2f}",
                        row.enabled_ns, row.running_ns, row.running_percent());
    if (row.runs.size() > 1)
      text += fmt::format(",\"error_percent\":{},\"runs\":{}", json_number(row.error_percent),
                          number_list(row.runs));
    std::string metrics;
    for (const view::CountMetric& metric : row.metrics)
      if (metric.value)
        metrics += fmt::format("{}{{\"name\":{},\"value\":{},\"unit\":{}}}",
                               metrics.empty() ? "" : ",", json_string(metric.name),
                               json_number(*metric.value), json_string(metric.unit));
    return text + ",\"metrics\":[" + metrics + "]}";
  }

  static std::string unit_text(const view::CountPage& page, const view::CountRow& row) {
    const view::CountUnit& unit = page.units[row.unit];
    if (unit.grouping == CountGrouping::kThread)
      return fmt::format(",\"thread\":{{\"comm\":{},\"tid\":{}}}", json_string(unit.head),
                         unit.tail);
    if (unit.grouping == CountGrouping::kCpu) return fmt::format(",\"cpu\":{}", unit.tail);
    return fmt::format(",\"{}\":\"{}{}\",\"cpus\":{}", grouping_name(unit.grouping), unit.head,
                       unit.tail, row.cpus);
  }

  Sink& out_;
  std::string counts_;
};

}  // namespace

std::unique_ptr<CountWriter> make_count_document(Sink& out) {
  return std::make_unique<CountDocument>(out);
}

}  // namespace sonde::render
