// Are the runs of B better or worse than those of A? Each metric is a list of numbers per side, and
// less is better; what the numbers don't support is not claimed.
//
//   std::vector<MetricRuns> metrics = {{a_task_clock, b_task_clock}, {a_faults, b_faults}};
//   std::vector<MetricVerdict> found = compare_runs(metrics, {.plan = RunPlan::kPaired});
//
// A difference is claimed if all of these hold:
//   - a rank test (rank_tests.h) finds it improbable at the level of the metric: `error_rate`
//     divided by the number of metrics that could show a difference at all (Bonferroni). So when a
//     command is compared with itself, the whole table claims nothing in at least 1 − error_rate of
//     all cases, however many metrics it has;
//   - the bootstrap interval of the change, at the same level, excludes "no change". The intervals
//     hold simultaneously, and never contradict the verdicts;
//   - the change exceeds the noise floor: how much the runs of A differ among themselves.
// A count that never changed on either side needs no interval: any difference counts once there are
// enough runs that a count that does change would hardly have looked like this.
//
// Drift (a machine that warms up, other load) doesn't count as a difference: the runs of a pair are
// adjacent, in random order; resampling takes whole pairs; and the noise floor splits neighbours
// between the two halves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

enum class RunPlan : uint8_t {
  kPaired,    // a[i] and b[i] ran consecutively
  kSeparate,  // one side was measured at another time
};

struct MetricRuns {
  std::vector<double> a, b;  // in the order in which they ran
  double known_shift = 0;    // the share by which the machine itself differs (kSeparate)
};

struct ComparisonSettings {
  RunPlan plan = RunPlan::kPaired;
  double error_rate = 0.05;
};

struct MetricVerdict {
  enum class Kind : uint8_t { kNoDifference, kBetter, kWorse };
  Kind kind = Kind::kNoDifference;
  double median_a = 0, median_b = 0;
  bool is_ratio = true;  // change is B / A; B − A if A may be 0
  double change = 1;
  double low = 1, high = 1;  // the interval of the change
  double noise = 0;          // how far A is from itself ("no change"): a share, or a difference
  double p_value = 1;
  bool is_constant = false;  // on both sides
  bool can_decide = true;    // false: too few runs to claim anything

  [[nodiscard]] double no_change() const { return is_ratio ? 1 : 0; }
};

std::vector<MetricVerdict> compare_runs(std::span<const MetricRuns> metrics,
                                        const ComparisonSettings& settings);

/// The error rate left to each of `metrics` metrics that vary.
double metric_level(size_t metrics, double error_rate);
/// How many could show a difference: those whose numbers are not all the same.
size_t open_metrics(std::span<const MetricRuns> metrics);
/// The fewest pairs (or runs per side) that can show a difference in one of `metrics` metrics.
size_t fewest_runs(size_t metrics, const ComparisonSettings& settings);

/// What compare_runs does for each metric, at a given level.
MetricVerdict compare_metric(const MetricRuns& runs, RunPlan plan, double level);

/// Whether B is worse than A by more than the limit: the verdict on B against an A already
/// increased by the limit.
struct GateLimit {
  double amount = 0;
  bool is_share = false;  // 0.02: two per cent more than A; else in the metric's unit
};
MetricVerdict compare_beyond(const MetricRuns& runs, const GateLimit& limit, RunPlan plan,
                             double level);

double median_of(std::vector<double> values);

}  // namespace sonde
