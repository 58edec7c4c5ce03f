#include "report/breakdown.h"

namespace sonde::report {

Breakdown::Breakdown(const EventReport::Data& data, const Plan& plan) {
  if (!plan.needs_sources) return;
  for (uint32_t row : data.rows->order()) totals_ += data.rows->sources(row);
}

view::Column Breakdown::column(Weight weight) const {
  constexpr size_t kValueWidth = 7;  // " 100.0%"
  abi::MemoryAspect aspect = aspect_of(weight);
  const abi::MemoryAspectText& text = abi::memory_aspect_text(aspect);
  view::Column column;
  column.name = text.field;
  column.title = text.title;
  column.kind = view::Column::Kind::kPercent;
  column.value_width = kValueWidth;
  for (size_t i = 0; i < text.values.size(); ++i)
    if (totals_.by[static_cast<size_t>(aspect)][i] != 0) column.parts.emplace_back(text.values[i]);
  column.values = column.parts.size();
  column.width = column.values * kValueWidth;
  return column;
}

void Breakdown::add_cell(view::Table& table, Weight weight, const SourcePeriods& of_row) const {
  auto aspect = static_cast<size_t>(aspect_of(weight));
  uint64_t sum = 0;
  for (uint64_t period : of_row.by[aspect]) sum += period;
  for (size_t i = 0; i < of_row.by[aspect].size(); ++i)
    if (totals_.by[aspect][i] != 0) table.add_percent(percent_of(of_row.by[aspect][i], sum));
}

}  // namespace sonde::report
