#include "analysis/comparison/compare_measured.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace sonde {
namespace {

using view::ComparedGate;
using view::ComparedMetric;

/// For the interval of the machine's pace.
constexpr double kPaceLevel = 0.01;

/// The metric of the same name; if there are several, the one in the same position among them.
const MeasuredMetric* counterpart(const MeasuredRuns& of, size_t metric, const MeasuredRuns& in) {
  const std::string& name = of.metrics[metric].name;
  auto same_name = [&](const MeasuredMetric& other) { return other.name == name; };
  auto skip = std::count_if(of.metrics.begin(), of.metrics.begin() + static_cast<ptrdiff_t>(metric),
                            same_name);
  for (const MeasuredMetric& other : in.metrics)
    if (same_name(other) && skip-- == 0) return &other;
  return nullptr;
}

std::string names_without_counterpart(const MeasuredRuns& of, const MeasuredRuns& in) {
  std::vector<std::string> names;
  for (size_t i = 0; i < of.metrics.size(); ++i)
    if (counterpart(of, i, in) == nullptr) names.push_back(of.metrics[i].name);
  return join(names, ", ");
}

class Comparer {
 public:
  Comparer(const MeasuredRuns& a, const MeasuredRuns& b, RunPlan plan) : a_(a), b_(b) {
    settings_.plan = plan;
  }

  Result<view::Comparison> compare(std::span<const Gate> gates) {
    collect();
    if (comparison_.metrics.empty())
      return fail(ErrorCode::kFailed, "the two sides have no event in common");
    judge();
    note_what_is_missing();
    for (const Gate& gate : gates) TRY(judge(gate));
    return std::move(comparison_);
  }

 private:
  void collect() {
    comparison_.a.command = a_.command;
    comparison_.b.command = b_.command;
    comparison_.a.runs = a_.runs;
    comparison_.b.runs = b_.runs;
    comparison_.in_turn = settings_.plan == RunPlan::kPaired;
    comparison_.confidence = 1 - settings_.error_rate;
    double shift = pace_shift();
    for (size_t i = 0; i < b_.metrics.size(); ++i) {
      const MeasuredMetric& b = b_.metrics[i];
      const MeasuredMetric* a = counterpart(b_, i, a_);
      if (a == nullptr) continue;
      ComparedMetric metric;
      metric.name = b.name;
      metric.unit = b.unit;
      metric.is_fraction = b.is_fraction || a->is_fraction;
      metric.status = status_of(std::max(a->status, b.status));
      MetricRuns runs;
      if (metric.status == ComparedMetric::Status::kCompared) {
        runs = {a->values, b.values, b.goes_by_pace ? shift : 0};
        metric.a = a->values;
        metric.b = b.values;
      }
      comparison_.metrics.push_back(std::move(metric));
      runs_.push_back(std::move(runs));
    }
  }

  static ComparedMetric::Status status_of(MeasuredMetric::Status status) {
    switch (status) {
      case MeasuredMetric::Status::kCounted:
        return ComparedMetric::Status::kCompared;
      case MeasuredMetric::Status::kNotCounted:
        return ComparedMetric::Status::kNotCounted;
      case MeasuredMetric::Status::kNotSupported:
        break;
    }
    return ComparedMetric::Status::kNotSupported;
  }

  /// How much slower or faster the machine became between the two sides.
  double pace_shift() {
    if (comparison_.in_turn) return 0;
    if (a_.pace_ns.empty() || b_.pace_ns.empty()) {
      comparison_.notes.emplace_back("the machine's speed then and now is not known");
      return 0;
    }
    // Not the medians alone: if the pace scatters, so does everything that depends on it.
    MetricVerdict pace = compare_metric({a_.pace_ns, b_.pace_ns}, RunPlan::kSeparate, kPaceLevel);
    double shift = std::max(std::abs(pace.low - 1), std::abs(pace.high - 1));
    comparison_.notes.push_back(fmt::format(
        "A was measured at another time. The time for a fixed workload has changed by {:+.1f}% "
        "({:+.1f}% .. {:+.1f}%): times and switches that differ by less than {:.1f}% are noise",
        100 * (pace.change - 1), 100 * (pace.low - 1), 100 * (pace.high - 1), 100 * shift));
    return shift;
  }

  void judge() {
    std::vector<MetricVerdict> verdicts = compare_runs(runs_, settings_);
    level_ = metric_level(open_metrics(runs_), settings_.error_rate);
    bool too_few = false;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      ComparedMetric& metric = comparison_.metrics[i];
      if (metric.status != ComparedMetric::Status::kCompared) continue;
      const MetricVerdict& verdict = verdicts[i];
      metric.median_a = verdict.median_a;
      metric.median_b = verdict.median_b;
      metric.change = {verdict.is_ratio, verdict.change, verdict.low, verdict.high, verdict.noise};
      metric.p_value = verdict.p_value;
      metric.verdict = verdict_of(verdict);
      too_few |= metric.verdict == ComparedMetric::Verdict::kTooFewRuns;
    }
    if (too_few)
      comparison_.notes.push_back(
          fmt::format("too few runs to show a difference: at least {} of each are needed (-r {})",
                      fewest(), fewest()));
  }

  [[nodiscard]] size_t fewest() const { return fewest_runs(open_metrics(runs_), settings_); }

  static ComparedMetric::Verdict verdict_of(const MetricVerdict& verdict) {
    if (!verdict.can_decide) return ComparedMetric::Verdict::kTooFewRuns;
    switch (verdict.kind) {
      case MetricVerdict::Kind::kBetter:
        return ComparedMetric::Verdict::kBetter;
      case MetricVerdict::Kind::kWorse:
        return ComparedMetric::Verdict::kWorse;
      case MetricVerdict::Kind::kNoDifference:
        break;
    }
    return ComparedMetric::Verdict::kNoDifference;
  }

  void note_what_is_missing() {
    for (const auto& [of, in, side] : {std::tuple(&a_, &b_, "A"), std::tuple(&b_, &a_, "B")})
      if (std::string names = names_without_counterpart(*of, *in); !names.empty())
        comparison_.notes.push_back(fmt::format("only {} has counts of {}", side, names));
  }

  Result<> judge(const Gate& gate) {
    bool is_there = false;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const ComparedMetric& metric = comparison_.metrics[i];
      if (metric.name != gate.metric) continue;
      is_there = true;
      if (metric.status != ComparedMetric::Status::kCompared)
        return fail(ErrorCode::kUnsupported, "--gate '{}': {} {}", gate.text, gate.metric,
                    metric.status == ComparedMetric::Status::kNotCounted
                        ? "was not counted in every run"
                        : "is not supported here");
      MetricVerdict beyond = compare_beyond(runs_[i], gate.limit, settings_.plan, level_);
      bool median_is_beyond = beyond.change > beyond.no_change();
      using Outcome = ComparedGate::Outcome;
      Outcome outcome = beyond.kind == MetricVerdict::Kind::kWorse ? Outcome::kExceeded
                        : !median_is_beyond                        ? Outcome::kPassed
                        : beyond.can_decide                        ? Outcome::kNotShown
                                                                   : Outcome::kTooFewRuns;
      comparison_.gates.push_back({gate.text, gate.metric, outcome});
    }
    if (!is_there)
      return fail(ErrorCode::kUsage, "--gate '{}': '{}' is not measured: add it to -e", gate.text,
                  gate.metric);
    return {};
  }

  const MeasuredRuns &a_, &b_;
  ComparisonSettings settings_;
  view::Comparison comparison_;
  std::vector<MetricRuns> runs_;  // parallel to comparison_.metrics
  double level_ = 0;
};

}  // namespace

Result<view::Comparison> compare_measured(const MeasuredRuns& a, const MeasuredRuns& b,
                                          RunPlan plan, std::span<const Gate> gates) {
  return Comparer(a, b, plan).compare(gates);
}

}  // namespace sonde
