#include "metrics.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "analysis/counts/counted_event.h"
#include "analysis/counts/metric_groups.h"
#include "analysis/counts/vendor_metrics.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/config_files.h"
#include "event/parser/event_parser.h"

namespace sonde::bindings {
namespace {

/// The vendor's files that the user's settings name.
Result<VendorEvents> configured_vendor() {
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  for (const char* name : {"HOME", "PERF_CONFIG", "PERF_CONFIG_NOSYSTEM", "PERF_CONFIG_NOGLOBAL"})
    if (const char* value = std::getenv(name)) env.variables[name] = value;
  for (const std::string& file : config_files(env))
    if (Result<std::string> text = read_file(file)) TRY(env.config.parse(*text, file));
  return VendorEvents(env);
}

std::vector<std::string> groups_of(const MetricInfo& metric) {
  std::vector<std::string> names;
  for (const MetricGroup& group : metric_groups())
    if (std::ranges::find(group.members, &metric) != group.members.end())
      names.emplace_back(group.name);
  return names;
}

/// The names of metrics and their events, in order.
struct Wanted {
  MetricSelection choice;
  std::vector<std::string> events;  // each may be a group

  void add(std::string name, const std::vector<std::string>& needed) {
    if (std::ranges::find(choice.names, name) != choice.names.end()) return;
    choice.names.push_back(std::move(name));
    // The kernel counts the events of the top-down registers only in a group led by `slots`.
    bool together = !needed.empty() && needed.front() == "slots";
    if (together) return events.push_back("{" + join(needed, ",") + "}");
    for (const std::string& event : needed)
      if (std::ranges::find(events, event) == events.end()) events.push_back(event);
  }
};

Result<Wanted> find_wanted(std::string_view list, VendorEvents& vendor) {
  Wanted wanted;
  for (std::string_view name : split(list, ',')) {
    Result<std::vector<const MetricInfo*>> own = find_metrics(name);
    if (own) {
      for (const MetricInfo* metric : *own) wanted.add(std::string(metric->name), metric->events);
      continue;
    }
    std::vector<CountFormula> formulas = TRY(find_vendor_metrics(name, vendor));
    if (formulas.empty()) return std::unexpected(own.error());
    for (CountFormula& formula : formulas) {
      wanted.add(formula.name, events_of(formula));
      wanted.choice.formulas.push_back(std::move(formula));
    }
  }
  return wanted;
}

/// Fits `leader` to events that lost some of them.
void keep_pmu(std::vector<ParsedEvent>& events, std::string_view pmu) {
  std::vector<ParsedEvent> kept;
  std::vector<uint32_t> places(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    places[i] = static_cast<uint32_t>(kept.size());
    if (!events[i].pmu.empty() && events[i].pmu != pmu) continue;
    kept.push_back(std::move(events[i]));
    ParsedEvent& event = kept.back();
    event.leader = event.leader <= i ? places[event.leader] : places[i];
  }
  events = std::move(kept);
}

}  // namespace

Result<std::vector<MetricDescription>> describe_metrics() {
  std::vector<MetricDescription> all;
  for (const MetricInfo& metric : all_metrics())
    all.push_back({.name = std::string(metric.name),
                   .formula = std::string(metric.expression),
                   .unit = {},
                   .brief = std::string(metric.unit),
                   .groups = groups_of(metric)});
  VendorEvents vendor = TRY(configured_vendor());
  if (vendor.is_configured())
    for (const VendorMetric& metric : TRY(vendor.tables())->metrics)
      // perf's units begin with the factor; formulas give values in their unit.
      all.push_back({metric.name, metric.formula, metric.unit.empty() ? "" : "1" + metric.unit,
                     metric.brief, metric.groups});
  std::ranges::stable_sort(all, {}, &MetricDescription::name);
  return all;
}

Result<std::pair<MetricsOfEvents, std::vector<ParsedEvent>>> MetricsOfEvents::parse(
    std::string_view list, std::string_view pmu) {
  VendorEvents vendor = TRY(configured_vendor());
  Wanted wanted = TRY(find_wanted(list, vendor));
  PmuCatalog pmus;
  Tracefs tracefs;
  EventSources sources{
      .pmus = pmus, .tracefs = tracefs, .tool = "perf", .counting = true, .vendor = &vendor};
  std::vector<ParsedEvent> events = TRY(parse_events(join(wanted.events, ","), sources));
  // perf's name for whichever PMU the cores have.
  if (!pmu.empty() && pmu != "default_core") keep_pmu(events, pmu);
  MetricsOfEvents metrics;
  metrics.choice_ = std::move(wanted.choice);
  return std::pair(std::move(metrics), std::move(events));
}

SysResult<double> MetricsOfEvents::compute(const std::string& name,
                                           std::span<KernelEvent* const> events, int cpu,
                                           pid_t thread) {
  MetricInputs inputs;
  std::vector<std::pair<CountedEvent, double>> counted;
  for (size_t i = 0; i < events.size(); ++i) {
    SysResult<CounterValue> now = events[i]->total(cpu, thread);
    if (!now) return std::unexpected(now.error());
    CounterValue since = now->since(std::exchange(last_[{name, i, cpu, thread}], *now));
    inputs.set_elapsed_ns(static_cast<double>(since.enabled));
    if (since.running == 0) continue;  // it never had a counter
    double count = static_cast<double>(since.value) * static_cast<double>(since.enabled) /
                   static_cast<double>(since.running);
    counted.emplace_back(counted_event(events[i]->parsed, {}), count);
    inputs.add(counted.back().first, count);
  }
  MetricSelection only{.names = {name}, .formulas = {}};
  for (const CountFormula& formula : choice_.formulas)
    if (formula.name == name) only.formulas.push_back(formula);
  for (const auto& [event, count] : counted)
    for (const view::CountMetric& metric : metrics_of(event, count, inputs, only))
      if (metric.name == name && metric.value) return *metric.value;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde::bindings
