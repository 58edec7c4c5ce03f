#include "render/counting_parts.h"

#include <fmt/printf.h>

#include <algorithm>
#include <map>

namespace sonde::render {

std::string_view status_words(view::CountRow::Status status) {
  switch (status) {
    case view::CountRow::Status::kNotCounted:
      return kNotCounted;
    case view::CountRow::Status::kNotSupported:
      return kNotSupported;
    default:
      return {};
  }
}

std::string metric_text(const view::CountMetric& metric) {
  return metric.value ? fmt::sprintf(metric.format, metric.shown_value()) : std::string();
}

std::string column_text(const view::CountMetric& metric) {
  return metric.value ? fmt::sprintf(metric.format, *metric.value) : std::string();
}

std::string bare_text(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  size_t end = text.find_first_not_of("-0123456789.");
  return text.substr(0, end);
}

std::string seconds_text(uint64_t ns) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  return fmt::format("{}.{:09}", ns / kNsPerSecond, ns % kNsPerSecond);
}

MetricColumns metric_columns(const view::CountPage& page) {
  MetricColumns columns;
  // A column is a metric of an event. A metric that only some units have also gets its column, next
  // to the other metrics of the event.
  std::map<std::pair<uint32_t, std::string>, size_t> places;
  std::vector<std::pair<uint32_t, std::string>> keys;
  for (uint32_t event = 0; event < page.events.size(); ++event)
    for (const view::CountRow& row : page.rows) {
      if (row.event != event) continue;
      for (const view::CountMetric& metric : row.metrics) {
        if (!metric.is_column || !places.try_emplace({event, metric.name}, keys.size()).second)
          continue;
        keys.emplace_back(event, metric.name);
        columns.titles.push_back(metric.title);
      }
    }
  std::map<uint32_t, size_t> line_of;
  for (const view::CountRow& row : page.rows) {
    auto [found, is_new] = line_of.try_emplace(row.unit, columns.lines.size());
    if (is_new) columns.lines.push_back({&row, std::vector<const view::CountMetric*>(keys.size())});
    for (const view::CountMetric& metric : row.metrics)
      if (auto place = places.find({row.event, metric.name}); place != places.end())
        columns.lines[found->second].cells[place->second] = &metric;
  }
  std::ranges::stable_sort(columns.lines, {}, [](const auto& line) { return line.row->unit; });
  return columns;
}

std::unique_ptr<CountWriter> make_count_writer(const CountStyle& style, Sink& out) {
  switch (style.format) {
    case CountStyle::Format::kCsv:
      return make_count_csv(style, out);
    case CountStyle::Format::kJson:
      return make_count_json(style, out);
    case CountStyle::Format::kJson2:
      return make_count_document(out);
    default:
      return make_count_text(style, out);
  }
}

}  // namespace sonde::render
