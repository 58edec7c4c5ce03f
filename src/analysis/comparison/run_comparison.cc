#include "analysis/comparison/run_comparison.h"

#include <algorithm>
#include <cmath>

#include "analysis/comparison/rank_tests.h"

namespace sonde {
namespace {

constexpr size_t kMaxResamples = 10000, kFewestResamples = 2000;
constexpr size_t kMaxSplits = 2048;
constexpr double kNoiseQuantile = 0.95;

/// SplitMix64: the same numbers in every run and on every machine.
class Dice {
 public:
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t below(size_t limit) { return static_cast<size_t>((next() >> 32) * limit >> 32); }

 private:
  uint64_t state_ = 0x536f6e6465;
};

bool all_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

double median_in_place(std::vector<double>& values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double change_of(double a, double b, bool is_ratio) {
  return is_ratio ? b / a : b - a;
}

/// The value below which this share of the sorted values lies.
double quantile(const std::vector<double>& sorted, double share) {
  double at = share * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double part = at - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

/// Percentile bootstrap of the change of medians.
void find_interval(const MetricRuns& runs, RunPlan plan, double level, MetricVerdict& verdict) {
  size_t resamples = std::clamp(static_cast<size_t>(40 / level), kFewestResamples, kMaxResamples);
  Dice dice;
  std::vector<double> changes(resamples), a(runs.a.size()), b(runs.b.size());
  for (double& change : changes) {
    for (size_t i = 0; i < a.size(); ++i) {
      size_t chosen = dice.below(a.size());
      a[i] = runs.a[chosen];
      if (plan == RunPlan::kPaired) b[i] = runs.b[chosen];
    }
    if (plan == RunPlan::kSeparate)
      for (double& value : b) value = runs.b[dice.below(runs.b.size())];
    change = change_of(median_in_place(a), median_in_place(b), verdict.is_ratio);
  }
  std::ranges::sort(changes);
  verdict.low = std::min(quantile(changes, level / 2), verdict.change);
  verdict.high = std::max(quantile(changes, 1 - level / 2), verdict.change);
}

/// How far apart the medians of two halves of one side are in most splits; each split sends one of
/// every two neighbours to each half.
double noise_between_halves(const std::vector<double>& values, bool is_ratio) {
  size_t couples = values.size() / 2;
  if (couples == 0) return 0;
  bool all_splits = couples <= 12 && (size_t{1} << (couples - 1)) <= kMaxSplits;
  size_t splits = all_splits ? size_t{1} << (couples - 1) : kMaxSplits;
  Dice dice;
  std::vector<double> distances(splits), left(couples), right(couples);
  for (size_t split = 0; split < splits; ++split) {
    for (size_t i = 0; i < couples; ++i) {
      bool swapped = all_splits ? (split >> i & 1) != 0 : (dice.next() & 1) != 0;
      left[i] = values[2 * i + (swapped ? 1 : 0)];
      right[i] = values[2 * i + (swapped ? 0 : 1)];
    }
    double one = median_in_place(left), other = median_in_place(right);
    distances[split] = std::abs(change_of(one, other, is_ratio) - (is_ratio ? 1 : 0));
  }
  std::ranges::sort(distances);
  return quantile(distances, kNoiseQuantile);
}

/// The difference between the runs measured first and those measured last.
double noise_over_time(const std::vector<double>& values, bool is_ratio) {
  size_t half = values.size() / 2;
  if (half == 0) return 0;
  std::vector<double> first(values.begin(), values.begin() + static_cast<ptrdiff_t>(half));
  std::vector<double> last(values.end() - static_cast<ptrdiff_t>(half), values.end());
  double change = change_of(median_in_place(first), median_in_place(last), is_ratio);
  return std::abs(change - (is_ratio ? 1 : 0));
}

void find_noise(const MetricRuns& runs, RunPlan plan, MetricVerdict& verdict) {
  verdict.noise = noise_between_halves(runs.a, verdict.is_ratio);
  // For runs made at another time, only the sides themselves tell how much changes with time alone.
  if (plan == RunPlan::kSeparate) {
    for (const std::vector<double>* side : {&runs.a, &runs.b})
      verdict.noise = std::max({verdict.noise, noise_between_halves(*side, verdict.is_ratio),
                                noise_over_time(*side, verdict.is_ratio)});
    double shift = std::abs(runs.known_shift);
    verdict.noise = std::max(verdict.noise, verdict.is_ratio ? shift : shift * verdict.median_a);
  }
}

double p_value(const MetricRuns& runs, RunPlan plan) {
  if (plan == RunPlan::kSeparate) return rank_sum_p(runs.a, runs.b);
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(runs.a.size(), runs.b.size()); ++i)
    differences.push_back(runs.b[i] - runs.a[i]);
  return signed_rank_p(differences);
}

double least_p(size_t a, size_t b, RunPlan plan) {
  return plan == RunPlan::kPaired ? least_signed_rank_p(std::min(a, b)) : least_rank_sum_p(a, b);
}

void decide(const MetricRuns& runs, RunPlan plan, double level, MetricVerdict& verdict) {
  bool is_change = verdict.change != verdict.no_change();
  if (verdict.is_constant) {
    verdict.p_value = is_change ? two_constants_p(runs.a.size(), runs.b.size()) : 1;
    verdict.can_decide = !is_change || verdict.p_value <= level;
    if (!is_change || !verdict.can_decide) return;
  } else {
    verdict.p_value = p_value(runs, plan);
    verdict.can_decide = least_p(runs.a.size(), runs.b.size(), plan) <= level;
    bool leaves_out_none = verdict.low > verdict.no_change() || verdict.high < verdict.no_change();
    if (verdict.p_value > level || !leaves_out_none) return;
  }
  if (std::abs(verdict.change - verdict.no_change()) <= verdict.noise) return;
  verdict.kind = verdict.change > verdict.no_change() ? MetricVerdict::Kind::kWorse
                                                      : MetricVerdict::Kind::kBetter;
}

}  // namespace

double median_of(std::vector<double> values) {
  return median_in_place(values);
}

double metric_level(size_t metrics, double error_rate) {
  return error_rate / static_cast<double>(std::max<size_t>(metrics, 1));
}

size_t open_metrics(std::span<const MetricRuns> metrics) {
  // Whether all numbers of both sides are equal doesn't depend on which side they belong to, so
  // leaving such metrics out of the correction is valid.
  return static_cast<size_t>(std::ranges::count_if(metrics, [](const MetricRuns& runs) {
    return !runs.a.empty() && !runs.b.empty() &&
           !(all_equal(runs.a) && all_equal(runs.b) && runs.a.front() == runs.b.front());
  }));
}

size_t fewest_runs(size_t metrics, const ComparisonSettings& settings) {
  size_t runs = 1;
  while (least_p(runs, runs, settings.plan) > metric_level(metrics, settings.error_rate)) ++runs;
  return runs;
}

MetricVerdict compare_metric(const MetricRuns& runs, RunPlan plan, double level) {
  MetricVerdict verdict;
  if (runs.a.empty() || runs.b.empty()) {
    verdict.can_decide = false;
    return verdict;
  }
  auto is_positive = [](double value) { return value > 0; };
  verdict.is_ratio = std::ranges::all_of(runs.a, is_positive);
  verdict.median_a = median_of(runs.a);
  verdict.median_b = median_of(runs.b);
  verdict.change = change_of(verdict.median_a, verdict.median_b, verdict.is_ratio);
  verdict.low = verdict.high = verdict.change;
  verdict.is_constant = all_equal(runs.a) && all_equal(runs.b);
  if (!verdict.is_constant) find_interval(runs, plan, level, verdict);
  find_noise(runs, plan, verdict);
  decide(runs, plan, level, verdict);
  return verdict;
}

std::vector<MetricVerdict> compare_runs(std::span<const MetricRuns> metrics,
                                        const ComparisonSettings& settings) {
  double level = metric_level(open_metrics(metrics), settings.error_rate);
  std::vector<MetricVerdict> verdicts;
  for (const MetricRuns& runs : metrics)
    verdicts.push_back(compare_metric(runs, settings.plan, level));
  return verdicts;
}

MetricVerdict compare_beyond(const MetricRuns& runs, const GateLimit& limit, RunPlan plan,
                             double level) {
  MetricRuns shifted = runs;
  for (double& value : shifted.a)
    value = limit.is_share ? value * (1 + limit.amount) : value + limit.amount;
  return compare_metric(shifted, plan, level);
}

}  // namespace sonde
