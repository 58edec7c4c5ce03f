// Are the runs of B better or worse than those of A? Each metric is a list of numbers for either
// side, of which less is better; what the numbers don't support is not claimed.
//
//   std::vector<MetricRuns> metrics = {{a_task_clock, b_task_clock}, {a_faults, b_faults}};
//   std::vector<MetricVerdict> found = compare_runs(metrics, {.plan = RunPlan::kPaired});
//
// A difference is claimed where all of these hold:
//   - a rank test (rank_tests.h) finds it improbable at the level of the metric: `error_rate`
//     divided by the number of metrics that could show a difference at all (Bonferroni). So in
//     comparisons of a command with itself the whole table claims nothing in at least
//     1 − error_rate of all cases, however many metrics it has;
//   - the bootstrap interval of the change, of the same level, leaves out "no change". The
//     intervals hold all together, and never contradict the verdicts;
//   - the change is larger than the noise floor: what the runs of A show against each other.
// A count that never changed on either side needs no interval: a difference is a difference, as
// soon as there are so many runs that a count that does change would hardly have shown this.
//
// Drift (a machine that warms up, a load that comes) doesn't count as a difference: runs of a pair
// stand beside each other, with the order of the two tossed; resampling takes whole pairs; and the
// noise floor deals neighbours out to both halves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

enum class RunPlan : uint8_t {
  kPaired,    // a[i] and b[i] ran one after the other
  kSeparate,  // one side was measured at another time
};

struct MetricRuns {
  std::vector<double> a, b;  // in the order in which they ran
  double known_shift = 0;    // a share that the machine itself differs by (kSeparate)
};

struct ComparisonSettings {
  RunPlan plan = RunPlan::kPaired;
  double error_rate = 0.05;
};

struct MetricVerdict {
  enum class Kind : uint8_t { kNoDifference, kBetter, kWorse };
  Kind kind = Kind::kNoDifference;
  double median_a = 0, median_b = 0;
  bool is_ratio = true;  // change is B / A; where A may be 0 it is B − A
  double change = 1;
  double low = 1, high = 1;  // the interval of the change
  double noise = 0;          // how far from "no change" A is from itself: a share, or a difference
  double p_value = 1;
  bool is_constant = false;  // on both sides
  bool can_decide = true;    // false: too few runs to claim anything

  [[nodiscard]] double no_change() const { return is_ratio ? 1 : 0; }
};

std::vector<MetricVerdict> compare_runs(std::span<const MetricRuns> metrics,
                                        const ComparisonSettings& settings);

/// Of each of `metrics` metrics that vary: the error rate that is left to it.
double metric_level(size_t metrics, double error_rate);
/// How many could show a difference: those whose numbers are not all the same.
size_t open_metrics(std::span<const MetricRuns> metrics);
/// The fewest pairs (or runs of each side) that can show a difference of one in `metrics`.
size_t fewest_runs(size_t metrics, const ComparisonSettings& settings);

/// What compare_runs does for each metric, at a given level.
MetricVerdict compare_metric(const MetricRuns& runs, RunPlan plan, double level);

/// Whether B is worse than A by more than the limit: the verdict on B against an A that is so much
/// larger already.
struct GateLimit {
  double amount = 0;
  bool is_share = false;  // 0.02: two per cent more than A; else in the metric's unit
};
MetricVerdict compare_beyond(const MetricRuns& runs, const GateLimit& limit, RunPlan plan,
                             double level);

double median_of(std::vector<double> values);

}  // namespace sonde
