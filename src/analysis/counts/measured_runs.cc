#include "analysis/counts/measured_runs.h"

#include <array>

namespace sonde {
namespace {

constexpr double kSecondsPerNs = 1e-9;

/// Clocks, and what happens more often the longer a program runs or the busier the CPUs are.
bool goes_by_pace(const CountedEvent& event) {
  if (event.is_clock() || event.tool != ToolEvent::kNone) return true;
  if (event.type == abi::kTypeSoftware)
    return event.config == abi::kSwContextSwitches || event.config == abi::kSwCpuMigrations;
  return event.type == abi::kTypeHardware && event.config != abi::kHwInstructions &&
         event.config != abi::kHwBranchInstructions;
}

MeasuredMetric metric_of(const view::CountEvent& shown, const CountedEvent& counted) {
  MeasuredMetric metric;
  metric.name = shown.cgroup.empty() ? shown.name : shown.name + " " + shown.cgroup;
  metric.unit = shown.unit;
  metric.is_fraction = shown.is_fraction;
  metric.goes_by_pace = goes_by_pace(counted);
  return metric;
}

MeasuredMetric time_metric(const char* name) {
  MeasuredMetric metric;
  metric.name = name;
  metric.unit = "sec";
  metric.is_fraction = metric.goes_by_pace = true;
  return metric;
}

}  // namespace

void MeasuredRuns::add(const view::CountPage& page, const std::vector<CountedEvent>& events,
                       const RunTimes& times) {
  constexpr std::array kTimes = {"elapsed", "user", "sys"};
  if (metrics.empty()) {
    for (const view::CountRow& row : page.rows)
      metrics.push_back(metric_of(page.events[row.event], events[row.event]));
    for (const char* name : kTimes) metrics.push_back(time_metric(name));
  }
  using Status = MeasuredMetric::Status;
  size_t next = 0;
  for (const view::CountRow& row : page.rows) {
    MeasuredMetric& metric = metrics[next++];
    if (row.status == view::CountRow::Status::kCounted)
      metric.values.push_back(row.value);
    else if (metric.status != Status::kNotSupported)
      metric.status = row.status == view::CountRow::Status::kNotCounted ? Status::kNotCounted
                                                                        : Status::kNotSupported;
  }
  for (uint64_t ns : {times.elapsed_ns, times.user_ns, times.system_ns})
    metrics[next++].values.push_back(static_cast<double>(ns) * kSecondsPerNs);
  ++runs;
}

}  // namespace sonde
