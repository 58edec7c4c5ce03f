#include "analysis/comparison/run_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace sonde {
namespace {

using Kind = MetricVerdict::Kind;
using Random = std::mt19937_64;  // the same numbers everywhere, unlike the library's distributions

double uniform(Random& random) {
  return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}
double normal(Random& random) {
  return std::sqrt(-2 * std::log(uniform(random))) * std::cos(2 * M_PI * uniform(random));
}

/// The cost of a command run as the `at`th of all runs.
using Noise = std::function<double(Random&, size_t at)>;

double quiet(Random& random, size_t) {
  return 100 * (1 + 0.01 * normal(random));
}
/// Most runs are close to each other, some take ten times as long.
double heavy_tails(Random& random, size_t) {
  return 100 + std::pow(uniform(random), -0.9);
}
/// Two speeds, as of a program whose page placement is sometimes good and sometimes bad.
double bimodal(Random& random, size_t) {
  return (uniform(random) < 0.5 ? 100 : 115) * (1 + 0.005 * normal(random));
}
/// The machine slows down by a third during the measurement.
double drifting(Random& random, size_t at) {
  return 100 * (1 + 0.01 * static_cast<double>(at)) * (1 + 0.01 * normal(random));
}
/// A count that is nearly always the same.
double counted(Random& random, size_t) {
  return 49 + (uniform(random) < 0.3 ? 1 : 0);
}
/// Often zero.
double rare(Random& random, size_t) {
  return std::floor(3 * uniform(random) * uniform(random));
}
const std::pair<const char*, Noise> kNoises[] = {{"quiet", quiet},     {"heavy tails", heavy_tails},
                                                 {"bimodal", bimodal}, {"drifting", drifting},
                                                 {"counted", counted}, {"rare", rare}};

/// Pairs of runs in random order, as `stat --vs` makes them; B takes `factor` times as long.
MetricRuns measure(Random& random, const Noise& noise, size_t pairs, double factor = 1) {
  MetricRuns runs;
  for (size_t i = 0; i < pairs; ++i) {
    bool b_first = random() & 1;
    runs.a.push_back(noise(random, 2 * i + (b_first ? 1 : 0)));
    runs.b.push_back(noise(random, 2 * i + (b_first ? 0 : 1)) * factor);
  }
  return runs;
}

size_t claims(const std::vector<MetricVerdict>& verdicts) {
  return static_cast<size_t>(std::ranges::count_if(
      verdicts, [](const MetricVerdict& verdict) { return verdict.kind != Kind::kNoDifference; }));
}

// For two copies of one command, the whole table claims nothing in at least 95 of 100 comparisons.
TEST(RunComparisonStatistics, TwoCopiesOfOneCommandDoNotDiffer) {
  constexpr size_t kTrials = 100, kMetrics = 3;
  for (size_t pairs : {10u, 20u}) {
    for (const auto& [name, noise] : kNoises) {
      Random random(pairs);
      size_t wrong = 0;
      for (size_t trial = 0; trial < kTrials; ++trial) {
        std::vector<MetricRuns> metrics;
        for (size_t i = 0; i < kMetrics; ++i) metrics.push_back(measure(random, noise, pairs));
        wrong += claims(compare_runs(metrics, {})) > 0;
      }
      EXPECT_LE(wrong, kTrials / 20) << name << ", " << pairs << " pairs";
    }
  }
}

TEST(RunComparisonStatistics, SeparateRunsOfOneCommandDoNotDiffer) {
  constexpr size_t kTrials = 100;
  for (const auto& [name, noise] : kNoises) {
    if (std::string_view(name) == "drifting") continue;
    Random random(7);
    size_t wrong = 0;
    for (size_t trial = 0; trial < kTrials; ++trial) {
      std::vector<MetricRuns> metrics(3);
      for (MetricRuns& runs : metrics)
        for (size_t i = 0; i < 15; ++i) {
          runs.a.push_back(noise(random, i));
          runs.b.push_back(noise(random, i));
        }
      wrong += claims(compare_runs(metrics, {.plan = RunPlan::kSeparate})) > 0;
    }
    EXPECT_LE(wrong, kTrials / 20) << name;
  }
}

TEST(RunComparisonStatistics, FivePerCentInOnePerCentOfNoiseAreFound) {
  constexpr size_t kTrials = 40;
  for (const Noise& noise : {Noise(quiet), Noise(drifting)}) {
    Random random(1);
    size_t worse = 0, better = 0;
    for (size_t trial = 0; trial < kTrials; ++trial) {
      // Along with metrics that don't differ, which make the level stricter.
      std::vector<MetricRuns> metrics = {measure(random, noise, 20, 1.05),
                                         measure(random, noise, 20, 0.95)};
      for (size_t i = 0; i < 4; ++i) metrics.push_back(measure(random, noise, 20));
      std::vector<MetricVerdict> found = compare_runs(metrics, {});
      worse += found[0].kind == Kind::kWorse;
      better += found[1].kind == Kind::kBetter;
      EXPECT_LE(found[0].low, found[0].change);
      EXPECT_GE(found[0].high, found[0].change);
    }
    EXPECT_GE(worse, kTrials * 9 / 10);
    EXPECT_GE(better, kTrials * 9 / 10);
  }
}

TEST(RunComparison, AWildRunDoesNotHideADifference) {
  Random random(3);
  MetricRuns runs = measure(random, quiet, 20, 1.1);
  runs.a[4] = 5000;
  EXPECT_EQ(compare_runs({{runs}}, {})[0].kind, Kind::kWorse);
}

TEST(RunComparison, CountsThatNeverChangeAreExact) {
  MetricRuns same{{7, 7, 7, 7, 7}, {7, 7, 7, 7, 7}}, more{{7, 7, 7, 7, 7}, {8, 8, 8, 8, 8}},
      none{{0, 0, 0, 0, 0}, {3, 3, 3, 3, 3}};
  std::vector<MetricVerdict> found = compare_runs(std::vector{same, more, none}, {});
  EXPECT_EQ(found[0].kind, Kind::kNoDifference);
  EXPECT_TRUE(found[0].can_decide);
  EXPECT_EQ(found[1].kind, Kind::kWorse);
  EXPECT_DOUBLE_EQ(found[1].change, 8.0 / 7);
  EXPECT_DOUBLE_EQ(found[1].low, found[1].high);
  EXPECT_EQ(found[2].kind, Kind::kWorse);
  EXPECT_FALSE(found[2].is_ratio) << "there is no ratio to nothing";
  EXPECT_DOUBLE_EQ(found[2].change, 3);
}

TEST(RunComparison, TooFewRunsClaimNothing) {
  MetricRuns apart{{100, 101, 102, 103}, {200, 202, 203, 201}};
  MetricVerdict found = compare_runs({{apart}}, {})[0];
  EXPECT_EQ(found.kind, Kind::kNoDifference);
  EXPECT_FALSE(found.can_decide);
  MetricRuns constant{{1, 1}, {2, 2}};
  EXPECT_FALSE(compare_runs({{constant}}, {})[0].can_decide);
  EXPECT_EQ(fewest_runs(1, {}), 6u);
  EXPECT_EQ(fewest_runs(7, {}), 9u);
  EXPECT_EQ(fewest_runs(1, {.plan = RunPlan::kSeparate}), 4u);
  EXPECT_FALSE(compare_runs(std::vector{MetricRuns{}}, {})[0].can_decide);
}

TEST(RunComparison, MetricsThatNeverVaryDoNotMakeOthersStricter) {
  Random random(4);
  std::vector<MetricRuns> metrics(300, MetricRuns{{5, 5, 5, 5, 5, 5, 5}, {5, 5, 5, 5, 5, 5, 5}});
  metrics.push_back(measure(random, quiet, 7, 1.2));
  EXPECT_EQ(open_metrics(metrics), 1u);
  EXPECT_EQ(compare_runs(metrics, {}).back().kind, Kind::kWorse);
}

TEST(RunComparison, ALimitIsExceededOnlyWhereTheNumbersSayMore) {
  Random random(5);
  MetricRuns runs = measure(random, quiet, 20, 1.05);
  auto beyond = [&](double amount) {
    return compare_beyond(runs, {.amount = amount, .is_share = true}, RunPlan::kPaired, 0.01).kind;
  };
  EXPECT_EQ(beyond(0), Kind::kWorse);
  EXPECT_EQ(beyond(0.02), Kind::kWorse);
  EXPECT_NE(beyond(0.05), Kind::kWorse) << "it is about that much, which is not more";
  EXPECT_EQ(beyond(0.2), Kind::kBetter);
  MetricRuns counts{{10, 10, 10, 10, 10}, {12, 12, 12, 12, 12}};
  EXPECT_EQ(compare_beyond(counts, {.amount = 1}, RunPlan::kPaired, 0.05).kind, Kind::kWorse);
  EXPECT_EQ(compare_beyond(counts, {.amount = 2}, RunPlan::kPaired, 0.05).kind,
            Kind::kNoDifference);
}

TEST(RunComparison, AMachineThatIsSlowerAsAWholeIsNoDifference) {
  Random random(6);
  MetricRuns runs = measure(random, quiet, 20, 1.04);
  ComparisonSettings separate{.plan = RunPlan::kSeparate};
  EXPECT_EQ(compare_runs({{runs}}, separate)[0].kind, Kind::kWorse);
  runs.known_shift = 0.06;
  EXPECT_EQ(compare_runs({{runs}}, separate)[0].kind, Kind::kNoDifference);
}

TEST(RunComparison, TheSameNumbersGiveTheSameAnswer) {
  Random random(8);
  MetricRuns runs = measure(random, heavy_tails, 12, 1.01);
  MetricVerdict one = compare_runs({{runs}}, {})[0], other = compare_runs({{runs}}, {})[0];
  EXPECT_EQ(one.low, other.low);
  EXPECT_EQ(one.high, other.high);
  EXPECT_EQ(one.noise, other.noise);
}

}  // namespace
}  // namespace sonde
