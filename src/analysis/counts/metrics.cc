#include "analysis/counts/metrics.h"

#include <fmt/printf.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "event/pmu/event_name.h"

namespace sonde {
namespace {

using namespace abi;  // metrics.def names events by the kernel's constants

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

enum InputId : size_t {
#define INPUT(name, type, config) k_##name,
#define NAMED(name, event) k_##name,
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"
  kInputCount,
  k_any = kInputCount,
};

struct InputEvent {
  InputId input;
  uint32_t type;
  uint64_t config;
};
constexpr InputEvent kInputEvents[] = {
#define INPUT(name, type, config) {k_##name, type, config},
#define NAMED(name, event)
#define ALSO(name, type, config) {k_##name, type, config},
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"
};

struct NamedInput {
  InputId input;
  std::string_view event;
};
constexpr NamedInput kNamedInputs[] = {
#define INPUT(name, type, config)
#define NAMED(name, event) {k_##name, event},
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"
};

/// The names used in expressions. A missing count is NaN, and so is the result of using it.
struct Expressions {
  double self = kMissing;
  double elapsed_ns = 0;
#define INPUT(name, type, config) double name = kMissing;
#define NAMED(name, event) double name = kMissing;
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"

  static double larger(double a, double b) { return std::fmax(a, b); }
  /// For a count that may be missing from a sum.
  static double if_there(double count) { return std::isnan(count) ? 0 : count; }
  static double positive(double value) { return value > 0 ? value : 0 * value; }
  static double at_least_one(double count) { return count > 0 ? count : kMissing; }
  static double share(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }
  static double per_second(double count, double ns) { return ns == 0 ? 0 : count * 1e9 / ns; }

#define INPUT(name, type, config)
#define NAMED(name, event)
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression) \
  [[nodiscard]] double metric_##id() const { return expression; }
#define EXTRA METRIC
#include "analysis/counts/metrics.def"
};

constexpr double Expressions::* kInputMembers[] = {
#define INPUT(name, type, config) &Expressions::name,
#define NAMED(name, event) &Expressions::name,
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"
};

/// The values from which a metric is worth a look; ascending.
struct Grade {
  double notable, high, very_high;
};
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr Grade kGrade_none{kNever, kNever, kNever};
constexpr Grade kGrade_frontend{10, 30, 50};
constexpr Grade kGrade_backend{20, 50, 75};
constexpr Grade kGrade_misses{5, 10, 20};
constexpr Grade kGrade_above_10{10, 10, 10};
constexpr Grade kGrade_above_20{20, 20, 20};

struct Metric {
  std::string_view name;
  InputId event;
  std::string_view unit;
  const char* format;
  const Grade* grade;
  double (Expressions::*compute)() const;
  bool needs_value;  // else it leaves a gap if it has none
  std::string_view expression;
};
constexpr Metric kMetrics[] = {
#define INPUT(name, type, config)
#define NAMED(name, event)
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression) \
  {#id, k_##event, unit, format, &kGrade_##grade, &Expressions::metric_##id, false, #expression},
#define EXTRA(id, event, unit, format, grade, expression) \
  {#id, k_##event, unit, format, &kGrade_##grade, &Expressions::metric_##id, true, #expression},
#include "analysis/counts/metrics.def"
};

InputId input_of(const CountedEvent& event) {
  if (event.tool != ToolEvent::kNone) return k_any;
  // On processors with two kinds of cores the upper half of config says which.
  uint64_t config = event.type == kTypeSoftware ? event.config : event.config & UINT32_MAX;
  for (const InputEvent& input : kInputEvents)
    if (input.type == event.type && input.config == config) return input.input;
  // The numbers of PMUs differ from machine to machine; their events are identified by name,
  // whatever the modifiers.
  std::string_view name = event.name;
  for (const NamedInput& input : kNamedInputs)
    if (name.starts_with(input.event) &&
        (name.size() == input.event.size() || name[input.event.size()] == ':'))
      return input.input;
  return k_any;
}

view::CountMetric::Level level_of(double value, const Grade& grade) {
  using Level = view::CountMetric::Level;
  if (value > grade.very_high) return Level::kVeryHigh;
  if (value > grade.high) return Level::kHigh;
  return value > grade.notable ? Level::kNotable : Level::kPlain;
}

/// 16568 "/sec" is shown as 16.568 "K/sec".
void shorten(view::CountMetric& metric) {
  for (const char* next : {"K", "M", "G"}) {
    if (metric.shown_value() <= 1000) break;
    metric.divisor *= 1000;
    metric.prefix = next;
  }
}

/// How much there was of something, not how one thing compares with another. Unless they are asked
/// for, --metric-only leaves these out, as perf does.
bool is_amount(const Metric& metric) {
  return metric.unit == "/sec" || metric.unit == "CPUs utilized";
}

/// A column's title, which stands without the event.
std::string title_of(const Metric& metric, const CountedEvent& event) {
  if (metric.unit == "/sec") return event.name + "/sec";
  return metric.unit.starts_with("of all") ? fmt::format("{} {}", event.name, metric.unit)
                                           : std::string(metric.unit);
}

view::CountMetric shown(const Metric& metric, const CountedEvent& event, double value,
                        bool is_asked_for) {
  view::CountMetric result;
  result.name = metric.name;
  result.format = metric.format;
  result.unit = metric.unit;
  result.level = level_of(value, *metric.grade);
  result.is_column = is_asked_for || !is_amount(metric);
  if (std::isfinite(value)) {
    result.value = value;
    if (metric.unit == "/sec") shorten(result);
  }
  result.title = title_of(metric, event);
  return result;
}

/// Formulas are other people's text: none of it becomes part of a format.
view::CountMetric shown(const CountFormula& formula, double value) {
  view::CountMetric result;
  result.name = formula.name;
  bool percent = formula.unit.starts_with("percent");
  result.format = percent ? "%8.1f%%" : "%8.2f ";
  result.unit = percent || formula.unit.empty()
                    ? formula.name
                    : fmt::format("{} ({})", formula.name, formula.unit);
  result.title = percent ? "%  " + formula.name : formula.name;
  if (std::isfinite(value)) result.value = value;
  return result;
}

/// "slots:u" is the event `slots`, restricted by a modifier or by what the kernel allows.
bool is_event_named(std::string_view counted, std::string_view name) {
  return counted.starts_with(name) &&
         (counted.size() == name.size() || counted[name.size()] == ':');
}

/// Whether `word` occurs in an expression as a whole word.
bool mentions(std::string_view expression, std::string_view word) {
  auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = expression.find(word); at != std::string_view::npos;
       at = expression.find(word, at + 1)) {
    size_t end = at + word.size();
    bool starts = at == 0 || !is_letter(expression[at - 1]);
    if (starts && (end == expression.size() || !is_letter(expression[end]))) return true;
  }
  return false;
}

std::string event_for(InputId input) {
  for (const InputEvent& event : kInputEvents) {
    if (event.input != input) continue;
    abi::EventAttr attr;
    attr.type = event.type;
    attr.config = event.config;
    attr.exclude_guest = 1;
    return event_name(attr);
  }
  for (const NamedInput& event : kNamedInputs)
    if (event.input == input) return std::string(event.event);
  return {};
}

MetricInfo info_of(const Metric& metric) {
  MetricInfo info{metric.name, metric.unit, metric.expression, {}};
  if (metric.event != k_any) info.events.push_back(event_for(metric.event));
  constexpr std::string_view kNames[] = {
#define INPUT(name, type, config) #name,
#define NAMED(name, event) #name,
#define ALSO(name, type, config)
#define METRIC(id, event, unit, format, grade, expression)
#define EXTRA(id, event, unit, format, grade, expression)
#include "analysis/counts/metrics.def"
  };
  for (size_t input = 0; input < kInputCount; ++input)
    if (input != metric.event && mentions(metric.expression, kNames[input]))
      info.events.push_back(event_for(static_cast<InputId>(input)));
  return info;
}

}  // namespace

void MetricInputs::add(const CountedEvent& event, double count) {
  auto same = std::ranges::find_if(named_, [&](const NamedSlot& slot) {
    return slot.name == event.name && slot.cgroup == event.cgroup;
  });
  if (same == named_.end()) same = named_.insert(same, {event.name, event.cgroup, {}});
  same->counts.add(count);
  InputId input = input_of(event);
  if (input == k_any) return;
  uint8_t excluded = input == k_clock_ns ? 0 : event.excluded;
  for (Slot& slot : slots_)
    if (slot.input == input && slot.excluded == excluded && slot.cgroup == event.cgroup)
      return slot.counts.add(count);
  slots_.push_back({input, excluded, event.cgroup, {}});
  slots_.back().counts.add(count);
}

bool MetricSelection::wants(std::string_view name) const {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

class MetricTable {
 public:
  static Expressions expressions(const CountedEvent& event, double count,
                                 const MetricInputs& inputs) {
    Expressions values;
    values.self = count;
    values.elapsed_ns = inputs.elapsed_ns_;
    for (const MetricInputs::Slot& slot : inputs.slots_) {
      bool fits = slot.input == k_clock_ns || slot.excluded == event.excluded;
      if (fits && slot.cgroup == event.cgroup)
        values.*kInputMembers[slot.input] = slot.counts.mean();
    }
    // Beside its own count an expression means that count, not the mean of all similar ones.
    if (InputId own = input_of(event); own != k_any) values.*kInputMembers[own] = count;
    return values;
  }

  static double value(const CountFormula& formula, const CountedEvent& event,
                      const MetricInputs& inputs) {
    std::vector<double> values;
    for (const CountFormula::Operand& operand : formula.operands)
      values.push_back(operand.is_event()
                           ? count_of(operand.event, event.cgroup, inputs)
                           : operand.constant + operand.per_elapsed_ns * inputs.elapsed_ns_);
    return formula.formula.value(values);
  }

 private:
  static double count_of(const std::string& name, const std::string& cgroup,
                         const MetricInputs& inputs) {
    double found = kMissing;
    for (const MetricInputs::NamedSlot& slot : inputs.named_) {
      if (slot.cgroup != cgroup) continue;
      if (slot.name == name) return slot.counts.mean();
      if (is_event_named(slot.name, name)) found = slot.counts.mean();
    }
    return found;
  }
};

std::vector<view::CountMetric> metrics_of(const CountedEvent& event, double count,
                                          const MetricInputs& inputs,
                                          const MetricSelection& choice) {
  std::vector<view::CountMetric> result;
  InputId own = input_of(event);
  bool has_own = std::ranges::any_of(kMetrics, [own](const Metric& m) { return m.event == own; });
  Expressions values = MetricTable::expressions(event, count, inputs);
  for (const Metric& metric : kMetrics) {
    if (metric.event != (has_own ? own : k_any) || !choice.wants(metric.name)) continue;
    double value = (values.*metric.compute)();
    if (metric.needs_value && !std::isfinite(value)) continue;
    result.push_back(shown(metric, event, value, !choice.names.empty()));
  }
  for (const CountFormula& formula : choice.formulas) {
    auto first = std::ranges::find_if(formula.operands, &CountFormula::Operand::is_event);
    if (first != formula.operands.end() && is_event_named(event.name, first->event))
      result.push_back(shown(formula, MetricTable::value(formula, event, inputs)));
  }
  return result;
}

const std::vector<MetricInfo>& all_metrics() {
  static const std::vector<MetricInfo> infos = [] {
    std::vector<MetricInfo> all;
    for (const Metric& metric : kMetrics)
      if (metric.event != k_any) all.push_back(info_of(metric));
    return all;
  }();
  return infos;
}

const MetricInfo* find_metric(std::string_view name) {
  auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const MetricInfo& metric : all_metrics())
    if (std::ranges::equal(metric.name, name, equal)) return &metric;
  return nullptr;
}

}  // namespace sonde
