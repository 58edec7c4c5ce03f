#include "analysis/counts/count_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sonde {
namespace {

using view::CountGrouping;

/// What a counter would have counted had it run all the time, in whole events.
double scaled(double value, uint64_t enabled_ns, uint64_t running_ns, bool scale) {
  if (!scale) return value;
  if (running_ns == 0) return 0;
  if (running_ns >= enabled_ns) return value;
  return std::floor(value * static_cast<double>(enabled_ns) / static_cast<double>(running_ns));
}

/// "cpu_core/cycles/u" and "cpu_atom/cycles/u" are both "cycles/u".
std::string_view without_pmu(std::string_view name) {
  return name.substr(name.find('/') + 1);
}

bool is_core_kind(const CountedEvent& event) {
  return event.pmu == "cpu_core" || event.pmu == "cpu_atom";
}

/// A corrupt recording may say 2^64 - 1, which as a double is one more than fits.
uint64_t whole_ns(double mean_ns) {
  constexpr double kTooLarge = 0x1p64;
  return mean_ns >= kTooLarge ? UINT64_MAX : static_cast<uint64_t>(std::max(mean_ns, 0.0));
}

}  // namespace

CountSeries::CountSeries(std::vector<CountedEvent> events, CountUnits units, CountUnits cores,
                         const CpuLocations& places, CountSettings settings)
    : events_(std::move(events)),
      units_(std::move(units)),
      cores_(std::move(cores)),
      places_(places),
      settings_(std::move(settings)),
      shown_as_(shown_as()) {
  clear();
}

void CountSeries::clear() {
  rows_.assign(events_.size(), {});
  for (size_t i = 0; i < events_.size(); ++i) rows_[i].cells.resize(units_of(i).size());
  elapsed_ns_ = {};
}

/// Events that one word of the command line created on several PMUs are one row.
std::vector<size_t> CountSeries::shown_as() const {
  std::vector<size_t> result(events_.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    result[i] = i;
    const CountedEvent& event = events_[i];
    if (event.pmu.empty()) continue;
    for (size_t earlier = 0; earlier < i; ++earlier) {
      const CountedEvent& other = events_[earlier];
      if (result[earlier] != earlier || other.pmu == event.pmu || other.unit != event.unit ||
          other.option != event.option || other.cgroup != event.cgroup)
        continue;
      bool alias = settings_.merge_aliases && other.name == event.name;
      bool kinds = settings_.merge_core_kinds && is_core_kind(other) && is_core_kind(event) &&
                   without_pmu(other.name) == without_pmu(event.name);
      if (!alias && !kinds) continue;
      result[i] = earlier;
      break;
    }
  }
  return result;
}

const CountUnits& CountSeries::units_of(size_t event) const {
  bool by_core = units_.grouping() == CountGrouping::kCpu && events_[event].percore &&
                 !settings_.percore_show_thread;
  return by_core ? cores_ : units_;
}

std::vector<CountSeries::Sum> CountSeries::total_of(const EventReadings& readings,
                                                    bool per_package) const {
  std::vector<Sum> sums(1);
  std::set<std::pair<int, int>> packages;
  size_t threads = readings.threads();
  for (size_t k = 0; k < readings.values.size(); ++k) {
    int cpu = readings.cpus[k / threads];
    CpuPlace place = places_[cpu];
    if (per_package && !packages.insert({place.socket, place.die}).second) continue;
    sums[0].value += static_cast<double>(readings.values[k].value);
    sums[0].enabled_ns += readings.values[k].enabled_ns;
    sums[0].running_ns += readings.values[k].running_ns;
    ++sums[0].cpus;
  }
  sums[0].value = scaled(sums[0].value, sums[0].enabled_ns, sums[0].running_ns, settings_.scale);
  return sums;
}

std::vector<CountSeries::Sum> CountSeries::sums_of(size_t event,
                                                   const EventReadings& readings) const {
  const CountUnits& units = units_of(event);
  if (units.grouping() == CountGrouping::kAll)
    return total_of(readings, events_[event].per_package);
  bool whole_core = events_[event].percore && units.grouping() == CountGrouping::kCpu;
  const CountUnits& summed = whole_core ? cores_ : units;
  std::vector<Sum> sums(summed.size());
  size_t threads = readings.threads();
  std::set<std::pair<int, int>> packages;
  for (size_t k = 0; k < readings.values.size(); ++k) {
    int cpu = readings.cpus[k / threads];
    CpuPlace place = places_[cpu];
    if (events_[event].per_package && !packages.insert({place.socket, place.die}).second) continue;
    Sum& sum = sums[summed.unit_of(cpu, k % threads)];
    if (sum.incomplete) continue;
    const CounterReading& counter = readings.values[k];
    ++sum.cpus;
    // If a part was not counted, the total is unknown.
    if (counter.enabled_ns == 0 || counter.running_ns == 0) {
      sum.incomplete = true;
      sum.enabled_ns = sum.running_ns = 0;
      continue;
    }
    sum.value += scaled(static_cast<double>(counter.value), counter.enabled_ns, counter.running_ns,
                        settings_.scale);
    sum.enabled_ns += counter.enabled_ns;
    sum.running_ns += counter.running_ns;
  }
  if (!whole_core) return sums;
  std::vector<Sum> by_cpu(units.size());
  for (int cpu : readings.cpus) by_cpu[units.unit_of(cpu, 0)] = sums[cores_.unit_of(cpu, 0)];
  return by_cpu;
}

void CountSeries::add(const std::vector<EventReadings>& readings, uint64_t elapsed_ns) {
  std::vector<std::vector<Sum>> sums(events_.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    rows_[i].supported = readings[i].supported;
    sums[i] = sums_of(i, readings[i]);
    if (shown_as_[i] == i) continue;
    std::vector<Sum>& merged = sums[shown_as_[i]];
    for (size_t unit = 0; unit < merged.size() && unit < sums[i].size(); ++unit) {
      merged[unit].value += sums[i][unit].value;
      merged[unit].enabled_ns += sums[i][unit].enabled_ns;
      merged[unit].running_ns += sums[i][unit].running_ns;
      merged[unit].cpus += sums[i][unit].cpus;
    }
  }
  for (size_t i = 0; i < events_.size(); ++i)
    for (size_t unit = 0; unit < sums[i].size(); ++unit) {
      Cell& cell = rows_[i].cells[unit];
      cell.value.add(sums[i][unit].value);
      cell.enabled.add(static_cast<double>(sums[i][unit].enabled_ns));
      cell.running.add(static_cast<double>(sums[i][unit].running_ns));
      cell.runs.push_back(sums[i][unit].value * events_[i].scale);
      cell.cpus = std::max(cell.cpus, sums[i][unit].cpus);
    }
  elapsed_ns_.add(static_cast<double>(elapsed_ns));
}

/// For each unit, the counts that its metrics may use.
std::vector<MetricInputs> CountSeries::metric_inputs() const {
  std::vector<MetricInputs> inputs(units_.size());
  for (MetricInputs& input : inputs) input.set_elapsed_ns(elapsed_ns_.mean());
  for (size_t i = 0; i < events_.size(); ++i) {
    if (shown_as_[i] != i || &units_of(i) != &units_) continue;
    double scale = events_[i].is_clock() ? 1 : events_[i].scale;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      const Cell& cell = rows_[i].cells[unit];
      if (cell.running.mean() > 0) inputs[unit].add(events_[i], cell.value.mean() * scale);
    }
  }
  return inputs;
}

view::CountRow CountSeries::row(size_t event, size_t unit,
                                const std::vector<MetricInputs>& inputs) const {
  const CountedEvent& counted = events_[event];
  const Cell& cell = rows_[event].cells[unit];
  bool by_core = &units_of(event) != &units_;
  view::CountRow result;
  result.event = static_cast<uint32_t>(event);
  result.unit = static_cast<uint32_t>(by_core ? units_.size() + unit : unit);
  result.value = cell.value.mean() * counted.scale;
  result.enabled_ns = whole_ns(cell.enabled.mean());
  result.running_ns = whole_ns(cell.running.mean());
  result.cpus = cell.cpus;
  result.error_percent = cell.value.error_percent();
  result.runs = cell.runs;
  using Status = view::CountRow::Status;
  double count = cell.value.mean() * (counted.is_clock() ? 1 : counted.scale);
  if (result.enabled_ns == 0 || result.running_ns == 0) {
    result.status = rows_[event].supported ? Status::kNotCounted : Status::kNotSupported;
    count = std::numeric_limits<double>::quiet_NaN();
  }
  // If nothing was counted the metrics have no value, but --metric-only has their columns.
  result.metrics = metrics_of(counted, count, inputs[by_core ? 0 : unit], settings_.metrics);
  return result;
}

bool CountSeries::is_shown(size_t event, size_t unit) const {
  if (shown_as_[event] != event) return false;
  const Cell& cell = rows_[event].cells[unit];
  if (settings_.skip_idle_threads && cell.value.mean() == 0) return false;
  return cell.cpus > 0 || units_.grouping() == CountGrouping::kAll;
}

void CountSeries::add_rows_of_event(size_t event, const std::vector<MetricInputs>& inputs,
                                    view::CountPage& page) const {
  size_t first = page.rows.size();
  for (size_t unit = 0; unit < rows_[event].cells.size(); ++unit)
    if (is_shown(event, unit)) page.rows.push_back(row(event, unit, inputs));
  if (units_.grouping() != CountGrouping::kThread) return;
  // The thread that did most comes first.
  std::stable_sort(page.rows.begin() + static_cast<std::ptrdiff_t>(first), page.rows.end(),
                   [](const auto& a, const auto& b) { return a.value > b.value; });
}

void CountSeries::add_rows_by_unit(const std::vector<MetricInputs>& inputs,
                                   view::CountPage& page) const {
  for (size_t unit = 0; unit < units_.size(); ++unit)
    for (size_t event = 0; event < events_.size(); ++event)
      if (is_shown(event, unit)) page.rows.push_back(row(event, unit, inputs));
}

view::CountPage CountSeries::page() const {
  view::CountPage page;
  page.grouping = units_.grouping();
  page.units = units_.units();
  page.units.insert(page.units.end(), cores_.units().begin(), cores_.units().end());
  for (const CountedEvent& event : events_) {
    view::CountEvent& shown = page.events.emplace_back();
    shown.name = event.name;
    shown.unit = event.unit;
    shown.cgroup = event.cgroup;
    shown.is_fraction = std::floor(event.scale) != event.scale;
    if (!settings_.merge_aliases && !event.pmu.empty()) shown.name += " [" + event.pmu + "]";
    if (settings_.merge_core_kinds && is_core_kind(event)) shown.name = without_pmu(event.name);
  }
  std::vector<MetricInputs> inputs = metric_inputs();
  bool by_event = page.grouping == CountGrouping::kCpu || page.grouping == CountGrouping::kThread;
  if (!by_event)
    add_rows_by_unit(inputs, page);
  else
    for (size_t event = 0; event < events_.size(); ++event) add_rows_of_event(event, inputs, page);
  return page;
}

std::vector<EventReadings> CountDeltas::take(const std::vector<EventReadings>& now,
                                             const std::vector<CountedEvent>& events) {
  std::vector<EventReadings> result = now;
  for (size_t i = 0; i < result.size() && i < before_.size(); ++i) {
    if (events[i].snapshot) continue;
    const std::vector<CounterReading>& before = before_[i].values;
    for (size_t k = 0; k < result[i].values.size() && k < before.size(); ++k) {
      CounterReading& reading = result[i].values[k];
      reading.value -= before[k].value;
      reading.enabled_ns -= before[k].enabled_ns;
      reading.running_ns -= before[k].running_ns;
    }
  }
  before_ = now;
  return result;
}

}  // namespace sonde
