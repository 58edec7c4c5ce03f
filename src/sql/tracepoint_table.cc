#include "sql/tracepoint_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "event/print_fmt/field_format.h"

namespace sonde::sql {
namespace {

using enum Column::Type;

constexpr size_t kOwnColumns = 6;

std::vector<Column> columns_of(const TracepointFormat& format) {
  std::vector<Column> columns = {{"sample", kInteger},     {"time", kInteger},
                                 {"common_cpu", kInteger}, {"common_pid", kInteger},
                                 {"common_tid", kInteger}, {"common_comm", kText}};
  // SQL's names have no case, and a format may repeat one.
  std::set<std::string> used;
  auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
  };
  for (const Column& column : columns) used.insert(column.name);
  for (const TracepointField& field : format.fields()) {
    std::string name = field.name;
    while (!used.insert(lower(name)).second) name.insert(0, "field_");
    columns.push_back({name, field.is_array ? kText : kInteger});
  }
  return columns;
}

class TracepointTable final : public RowSource {
 public:
  TracepointTable(const Session& session, const TracepointFormat& format,
                  std::vector<uint32_t> samples)
      : RowSource(format.system() + "__" + format.name(), columns_of(format)),
        session_(session),
        format_(format),
        samples_(std::move(samples)) {}

  [[nodiscard]] size_t rows() const override { return samples_.size(); }

  [[nodiscard]] Value at(size_t row, size_t column) override {
    const SampleColumns& all = session_.samples();
    uint32_t sample = samples_[row];
    switch (column) {
      case 0:
        return number(sample);
      case 1:
        return number(all.time[sample]);
      case 2:
        return all.cpu[sample] == UINT32_MAX ? Value() : number(all.cpu[sample]);
      case 3:
        return number(all.pid[sample]);
      case 4:
        return number(all.tid[sample]);
      case 5:
        return LastingText{session_.strings().view(all.comm[sample])};
      default:
        return field(sample, format_.fields()[column - kOwnColumns]);
    }
  }

 private:
  [[nodiscard]] Value field(uint32_t sample, const TracepointField& field) {
    if (sample != decoded_) {
      content_ = {};
      if (!session_.decode(sample, content_)) content_.raw = {};
      decoded_ = sample;
    }
    if (auto text = field_string(field, content_.raw, content_.order)) return std::string(*text);
    if (auto value = field_number(field, content_.raw, content_.order)) return number(*value);
    if (!field.is_array) return {};
    std::string text;
    append_field(field, content_.raw, content_.order, text);
    return text;
  }

  const Session& session_;
  const TracepointFormat& format_;
  std::vector<uint32_t> samples_;
  Sample content_;
  uint32_t decoded_ = UINT32_MAX;
};

}  // namespace

std::vector<std::unique_ptr<RowSource>> tracepoint_tables(const Session& session,
                                                          const TraceFormats& formats) {
  // The same tracepoint may have been recorded by several events.
  std::map<std::pair<std::string, std::string>, const TracepointFormat*> by_name;
  const std::vector<EventDesc>& events = session.events().all();
  std::vector<const TracepointFormat*> format_of(events.size());
  for (size_t i = 0; i < events.size(); ++i)
    if (const TracepointFormat* format = formats.of(EventId(i)))
      format_of[i] = by_name.try_emplace({format->system(), format->name()}, format).first->second;
  std::map<const TracepointFormat*, std::vector<uint32_t>> samples;
  for (size_t i = 0; i < session.samples().size(); ++i)
    if (const TracepointFormat* format = format_of[session.samples().event[i]])
      samples[format].push_back(static_cast<uint32_t>(i));
  std::vector<std::unique_ptr<RowSource>> tables;
  for (const auto& [name, format] : by_name)
    tables.push_back(
        std::make_unique<TracepointTable>(session, *format, std::move(samples[format])));
  return tables;
}

}  // namespace sonde::sql
