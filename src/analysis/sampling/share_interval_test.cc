#include "analysis/sampling/share_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sonde {
namespace {

void expect_interval(const ShareInterval& found, double low, double high) {
  EXPECT_NEAR(found.low, low, 5e-5);
  EXPECT_NEAR(found.high, high, 5e-5);
}

TEST(ShareInterval, IsWilsonsInterval) {
  // Newcombe 1998 ("Two-sided confidence intervals for the single proportion"), table I, method 3.
  expect_interval(share_interval(81.0 / 263, 263), 0.2553, 0.3662);
  expect_interval(share_interval(15.0 / 148, 148), 0.0624, 0.1605);
  expect_interval(share_interval(0, 20), 0, 0.1611);
  expect_interval(share_interval(1.0 / 29, 29), 0.0061, 0.1718);
}

TEST(ShareInterval, KnowsTheNormalDistribution) {
  // R: qnorm(1 - c(0.05, 0.01, 0.0001) / 2).
  EXPECT_NEAR(deviations_beyond(0.05), kUsualDeviations, 1e-12);
  EXPECT_NEAR(deviations_beyond(0.01), 2.5758293035489, 1e-12);
  EXPECT_NEAR(deviations_beyond(0.0001), 3.8905918864131, 1e-12);
}

TEST(ShareInterval, HoldsAtTheEndsToo) {
  // z² is 3.841459: z² / (n + z²) for no sample of n; its mirror image for all of them.
  ShareInterval none = share_interval(0, 10), all = share_interval(1, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 3.841459 / 13.841459, 1e-6);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(all.low, 10 / 13.841459, 1e-6);
}

TEST(ShareInterval, WithoutSamplesSaysNothing) {
  ShareInterval nothing = share_interval(0, 0);
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(ShareInterval, PeriodsOfOtherSizesCountForLess) {
  SampledTotal equal{.weight = 40, .squares = 4 * 100};
  EXPECT_DOUBLE_EQ(equal.effective(), 4);
  SampledTotal skewed{.weight = 103, .squares = 100 * 100 + 3};
  EXPECT_LT(skewed.effective(), 1.1);
}

/// How often the interval of `samples` samples holds the true share. `spread`: deviation of the
/// logarithms of their periods; 0: all are equal.
double coverage(double truth, int samples, double spread, uint64_t seed) {
  constexpr int kTrials = 2000;
  std::mt19937_64 random(seed);
  std::bernoulli_distribution hits(truth);
  std::lognormal_distribution<double> periods(10, spread);
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    SampledTotal all;
    double hit = 0;
    for (int i = 0; i < samples; ++i) {
      double period = spread == 0 ? 1 : periods(random);
      all.weight += period;
      all.squares += period * period;
      if (hits(random)) hit += period;
    }
    ShareInterval found = share_interval(hit / all.weight, all.effective());
    if (found.low <= truth && truth <= found.high) ++held;
  }
  return held / double{kTrials};
}

// The score interval's coverage is 95 % on average over shares, and dips for single ones, since
// counts are whole numbers (Brown, Cai and DasGupta 2001). A deviation of the estimate of 2000
// trials is 0.5 points.

TEST(ShareIntervalStatistics, HoldsTheTruthNineteenTimesInTwenty) {
  double sum = 0;
  const std::vector<double> truths = {0.01, 0.03, 0.1, 0.25, 0.5, 0.8, 0.97};
  for (double truth : truths) {
    double held = coverage(truth, 120, 0, 1);
    EXPECT_GE(held, 0.91) << truth;
    EXPECT_LE(held, 0.99) << truth;
    sum += held;
  }
  EXPECT_NEAR(sum / static_cast<double>(truths.size()), 0.95, 0.015);
}

TEST(ShareIntervalStatistics, HoldsForPeriodsOfDifferentSizes) {
  double sum = 0;
  const std::vector<double> truths = {0.05, 0.2, 0.5, 0.9};
  for (double truth : truths) {
    double held = coverage(truth, 120, 0.7, 2);
    EXPECT_GE(held, 0.91) << truth;
    sum += held;
  }
  EXPECT_NEAR(sum / static_cast<double>(truths.size()), 0.95, 0.02);
}

}  // namespace
}  // namespace sonde
