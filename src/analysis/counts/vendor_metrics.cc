#include "analysis/counts/vendor_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace sonde {
namespace {

struct KnownEvent {
  std::string_view vendor, kernel;
};
/// Names in formulas that are not in the lists of events: what the kernel calls them
/// (arch/x86/events/intel/core.c).
constexpr KnownEvent kKnownEvents[] = {
    {"TOPDOWN.SLOTS:perf_metrics", "slots"},
    {"PERF_METRICS.RETIRING", "topdown-retiring"},
    {"PERF_METRICS.BAD_SPECULATION", "topdown-bad-spec"},
    {"PERF_METRICS.FRONTEND_BOUND", "topdown-fe-bound"},
    {"PERF_METRICS.BACKEND_BOUND", "topdown-be-bound"},
    {"PERF_METRICS.HEAVY_OPERATIONS", "topdown-heavy-ops"},
    {"PERF_METRICS.BRANCH_MISPREDICTS", "topdown-br-mispredict"},
    {"PERF_METRICS.FETCH_LATENCY", "topdown-fetch-lat"},
    {"PERF_METRICS.MEMORY_BOUND", "topdown-mem-bound"},
    {"TSC", "msr/tsc/"},
};

/// ":SUP", ":USER", ":c1", ":e1", ":i1" of perfmon's formulas.
struct EventSuffixes {
  std::string modifiers, terms;

  bool add(std::string_view suffix) {
    std::string_view digits = suffix.substr(std::min<size_t>(1, suffix.size()));
    std::optional<uint64_t> number = parse_number(digits);
    if (suffix == "SUP" || suffix == "sup")
      modifiers += 'k';
    else if (suffix == "USER" || suffix == "user")
      modifiers += 'u';
    else if (number && suffix[0] == 'c')
      terms += fmt::format(",cmask={}", *number);
    else if (number && suffix[0] == 'e')
      terms += fmt::format(",edge={}", *number);
    else if (number && suffix[0] == 'i')
      terms += fmt::format(",inv={}", *number);
    else
      return false;
    return true;
  }
};

std::unexpected<Error> unusable(const VendorMetric& metric, std::string_view why) {
  return fail(ErrorCode::kBadEvent, "metric {}: {}; choose another metric", metric.name, why);
}

/// `threads per core`, as far as anybody asks for it: 1 or 2.
double threads_per_core() {
  Result<std::string> active = read_file("/sys/devices/system/cpu/smt/active", 16);
  return active && trim(*active) == "1" ? 2 : 1;
}

class FormulaBuilder {
 public:
  FormulaBuilder(const VendorMetric& metric, VendorEvents& vendor)
      : metric_(metric), vendor_(vendor) {}

  Result<CountFormula> run() {
    Result<Formula> formula = Formula::parse(metric_.formula);
    if (!formula)
      return unusable(metric_,
                      fmt::format("its formula cannot be read: {}", formula.error().message));
    CountFormula made{.name = metric_.name, .unit = metric_.unit, .formula = std::move(*formula)};
    for (const std::string& name : made.formula.names())
      made.operands.push_back(TRY(operand(name)));
    if (std::ranges::none_of(made.operands, &CountFormula::Operand::is_event))
      return unusable(metric_, "its formula has no event");
    return made;
  }

 private:
  Result<CountFormula::Operand> operand(const std::string& name) {
    auto event = std::ranges::find(metric_.events, name, &VendorMetric::Name::alias);
    if (event != metric_.events.end()) return event_operand(event->event);
    auto constant = std::ranges::find(metric_.constants, name, &VendorMetric::Name::alias);
    return constant != metric_.constants.end() ? constant_operand(constant->event)
                                               : name_operand(name);
  }

  /// A name that is not an alias: an event, or else a constant.
  Result<CountFormula::Operand> name_operand(const std::string& name) {
    bool is_event =
        std::ranges::find(kKnownEvents, name, &KnownEvent::vendor) != std::end(kKnownEvents) ||
        !TRY(vendor_.find(name.substr(0, name.find(':')))).empty();
    return is_event ? event_operand(name) : constant_operand(name);
  }

  Result<CountFormula::Operand> event_operand(const std::string& text) {
    const auto* known = std::ranges::find(kKnownEvents, text, &KnownEvent::vendor);
    if (known != std::end(kKnownEvents))
      return CountFormula::Operand{.event = std::string(known->kernel)};
    std::vector<std::string_view> parts = split(text, ':');
    std::vector<const VendorEvent*> found = TRY(vendor_.find(parts[0]));
    if (found.empty())
      return unusable(metric_,
                      fmt::format("it needs event '{}', which the vendor's files lack", parts[0]));
    EventSuffixes suffixes;
    for (size_t i = 1; i < parts.size(); ++i)
      if (!suffixes.add(parts[i]))
        return unusable(metric_, fmt::format("it needs event '{}', whose suffix is unknown", text));
    std::string name = found.front()->alias.name;
    if (!suffixes.terms.empty())
      name = fmt::format("{}/{}{}/{}", found.front()->pmu.empty() ? "cpu" : found.front()->pmu,
                         name, suffixes.terms, suffixes.modifiers);
    else if (!suffixes.modifiers.empty())
      name += ':' + suffixes.modifiers;
    return CountFormula::Operand{.event = std::move(name)};
  }

  Result<CountFormula::Operand> constant_operand(const std::string& name) {
    std::string lower = lower_case_of(name);
    if (lower == "durationtimeinseconds") return CountFormula::Operand{.per_elapsed_ns = 1e-9};
    if (lower == "durationtimeinmilliseconds") return CountFormula::Operand{.per_elapsed_ns = 1e-6};
    if (lower == "threads_per_core") return CountFormula::Operand{.constant = threads_per_core()};
    if (lower == "hyperthreading_on" || lower == "#smt_on")
      return CountFormula::Operand{.constant = threads_per_core() > 1 ? 1.0 : 0.0};
    if (lower == "#num_cpus")
      return CountFormula::Operand{.constant =
                                       static_cast<double>(::sysconf(_SC_NPROCESSORS_CONF))};
    if (std::optional<uint64_t> number = parse_number(lower))
      return CountFormula::Operand{.constant = static_cast<double>(*number)};
    return unusable(metric_, fmt::format("it needs '{}', which is not known here", name));
  }

  const VendorMetric& metric_;
  VendorEvents& vendor_;
};

bool has_name(const VendorMetric& metric, std::string_view lower) {
  return lower_case_of(metric.name) == lower;
}

bool is_in_group(const VendorMetric& metric, std::string_view lower) {
  return std::ranges::any_of(
      metric.groups, [lower](const std::string& group) { return lower_case_of(group) == lower; });
}

/// Those whose names match the glob, whatever their case; none if there are no files.
Result<std::vector<const VendorMetric*>> metrics_like(std::string_view pattern,
                                                      VendorEvents& vendor) {
  std::vector<const VendorMetric*> found;
  Result<const VendorTables*> tables = vendor.tables();
  if (!tables && tables.error().code == ErrorCode::kNotFound) return found;
  std::string lower = lower_case_of(pattern);
  for (const VendorMetric& metric : TRY(std::move(tables))->metrics)
    if (glob_match(lower, lower_case_of(metric.name))) found.push_back(&metric);
  return found;
}

}  // namespace

Result<std::vector<CountFormula>> find_vendor_metrics(std::string_view name, VendorEvents& vendor) {
  const VendorTables& tables = *TRY(vendor.tables());
  std::string lower = lower_case_of(name);
  std::vector<CountFormula> found;
  for (const VendorMetric& metric : tables.metrics) {
    if (!has_name(metric, lower)) continue;
    found.push_back(TRY(FormulaBuilder(metric, vendor).run()));
    return found;
  }
  for (const VendorMetric& metric : tables.metrics)
    if (is_in_group(metric, lower)) found.push_back(TRY(FormulaBuilder(metric, vendor).run()));
  return found;
}

std::vector<std::string> events_of(const CountFormula& formula) {
  std::vector<std::string> events;
  auto add = [&](const std::string& event) {
    if (!event.empty() && std::ranges::find(events, event) == events.end()) events.push_back(event);
  };
  if (std::ranges::any_of(formula.operands, [](const CountFormula::Operand& operand) {
        return operand.event.starts_with("topdown-");
      }))
    add("slots");
  for (const CountFormula::Operand& operand : formula.operands) add(operand.event);
  return events;
}

Result<> list_vendor_metrics(Sink& out, VendorEvents& vendor, std::string_view pattern,
                             bool describe, bool details) {
  bool any = false;
  for (const VendorMetric* metric : TRY(metrics_like(pattern, vendor))) {
    if (!any) out.write("\nVendor Metrics:\n\n");
    any = true;
    out.print("  {}\n", metric->name);
    if (describe && !metric->brief.empty()) out.print("       [{}]\n", metric->brief);
    if (details) out.print("        {}\n", metric->formula);
  }
  return {};
}

Result<> list_vendor_metric_groups(Sink& out, VendorEvents& vendor) {
  std::set<std::string_view> groups;
  for (const VendorMetric* metric : TRY(metrics_like("*", vendor)))
    groups.insert(metric->groups.begin(), metric->groups.end());
  if (!groups.empty()) out.write("\nVendor Metric Groups:\n\n");
  for (std::string_view group : groups) out.print("{}\n", group);
  return {};
}

Result<bool> list_vendor_metrics_as_json(Sink& out, VendorEvents& vendor, std::string_view pattern,
                                         bool first) {
  for (const VendorMetric* metric : TRY(metrics_like(pattern, vendor))) {
    std::string object = first ? "{" : ",\n{";
    std::string_view comma;
    auto add = [&](std::string_view field, std::string_view value) {
      object += fmt::format("{}\n\t\"{}\": ", comma, field);
      append_json_string(object, value);
      comma = ",";
    };
    add("MetricGroup", join(metric->groups, ";"));
    add("MetricName", metric->name);
    add("MetricExpr", metric->formula);
    add("BriefDescription", metric->brief);
    out.write_lines(object + "\n}");
    first = false;
  }
  return first;
}

}  // namespace sonde
