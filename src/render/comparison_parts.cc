#include "render/comparison_parts.h"

#include <cmath>

#include "render/comparison.h"

namespace sonde::render {
namespace {

using view::ComparedMetric;

std::string count_text(double value, bool is_fraction) {
  if (value == 0) return "0";
  if (!is_fraction && value == std::floor(value)) return fmt::format("{:.0f}", value);
  // Enough decimals to keep small times readable.
  double size = std::abs(value);
  int decimals = size >= 100 ? 2 : size >= 1 ? 3 : size >= 0.01 ? 5 : 7;
  return fmt::format("{:.{}f}", value, is_fraction ? decimals : 1);
}

/// "+7.1%", "+3"
std::string change_text(double value, const ComparedMetric& metric) {
  if (metric.change.is_ratio) {
    double percent = 100 * (value - 1);
    if (std::abs(percent) < 0.005) percent = 0;  // no "-0.0%"
    return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 10 ? 2 : 1);
  }
  std::string text = count_text(value, metric.is_fraction);
  return value < 0 ? text : "+" + text;
}

std::string noise_text(const ComparedMetric& metric) {
  double noise = metric.change.noise;
  return metric.change.is_ratio ? fmt::format("{:.2f}%", 100 * noise)
                                : count_text(noise, metric.is_fraction);
}

}  // namespace

std::string_view verdict_words(ComparedMetric::Verdict verdict) {
  switch (verdict) {
    case ComparedMetric::Verdict::kNoDifference:
      return "no difference seen";
    case ComparedMetric::Verdict::kBetter:
      return "better";
    case ComparedMetric::Verdict::kWorse:
      return "worse";
    case ComparedMetric::Verdict::kTooFewRuns:
      return "too few runs to tell";
  }
  return {};
}

std::string_view outcome_words(view::ComparedGate::Outcome outcome) {
  switch (outcome) {
    case view::ComparedGate::Outcome::kPassed:
      return "passed";
    case view::ComparedGate::Outcome::kExceeded:
      return "exceeded";
    case view::ComparedGate::Outcome::kNotShown:
      return "passed: the median is beyond the limit, but it may be chance; more runs (-r) would "
             "tell";
    case view::ComparedGate::Outcome::kTooFewRuns:
      return "too few runs to tell";
  }
  return {};
}

std::vector<std::string> comparison_cells(const ComparedMetric& metric) {
  if (metric.status != ComparedMetric::Status::kCompared) {
    bool known = metric.status == ComparedMetric::Status::kNotCounted;
    return {metric.name, known ? "<not counted>" : "<not supported>", "", metric.unit, "", "", "",
            ""};
  }
  const view::Change& change = metric.change;
  return {metric.name,
          count_text(metric.median_a, metric.is_fraction),
          count_text(metric.median_b, metric.is_fraction),
          metric.unit,
          change_text(change.value, metric),
          change_text(change.low, metric) + " .. " + change_text(change.high, metric),
          noise_text(metric),
          std::string(verdict_words(metric.verdict))};
}

std::string how_it_was_measured(const view::Comparison& comparison) {
  if (comparison.in_turn)
    return fmt::format("{} runs of each in turn, after a warm-up", comparison.a.runs);
  return fmt::format("{} runs of A, from before, and {} of B", comparison.a.runs,
                     comparison.b.runs);
}

void write_comparison(Sink& out, const view::Comparison& comparison, const ComparisonStyle& style) {
  switch (style.format) {
    case ComparisonFormat::kText:
      return write_comparison_text(out, comparison, style.color);
    case ComparisonFormat::kJson:
      return write_comparison_json(out, comparison);
    case ComparisonFormat::kMarkdown:
      return write_comparison_markdown(out, comparison);
  }
}

}  // namespace sonde::render
