#include "analysis/comparison/share_difference.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sonde {
namespace {

TEST(ShareDifference, IsNewcombesInterval) {
  // Newcombe 1998, table II: 56/70 against 48/80 and 0/10 against 0/10, method 10, 95 %.
  ShareInterval first = share_difference(48.0 / 80, 80, 56.0 / 70, 70, 0.05);
  EXPECT_NEAR(first.low, 0.0524, 0.0001);
  EXPECT_NEAR(first.high, 0.3339, 0.0001);
  ShareInterval none = share_difference(0, 10, 0, 10, 0.05);
  EXPECT_NEAR(none.low, -0.2775, 0.0001);
  EXPECT_NEAR(none.high, 0.2775, 0.0001);
}

TEST(ShareDifference, WithoutSamplesSaysNothing) {
  ShareInterval nothing = share_difference(0.5, 100, 0, 0, 0.05);
  EXPECT_FALSE(nothing.leaves_out_zero());
  EXPECT_FALSE(can_show_difference(0, 0, 0, 0.05));
}

TEST(ShareDifference, FewSamplesCannotShowADifference) {
  // Five samples on one of two equal sides: 2 · (1/2)⁵ = 6 %. Six: 3 %.
  EXPECT_FALSE(can_show_difference(5, 100, 100, 0.05));
  EXPECT_TRUE(can_show_difference(6, 100, 100, 0.05));
}

TEST(ShareDifference, RowsThatCannotShowADifferenceCostNothing) {
  std::vector<double> samples(500, 1.0);
  samples.push_back(100);
  EXPECT_DOUBLE_EQ(error_per_row(samples, 300, 300, 0.05), 0.05);
  std::vector<double> rich(5, 100.0);
  EXPECT_DOUBLE_EQ(error_per_row(rich, 300, 300, 0.05), 0.01);
  EXPECT_DOUBLE_EQ(error_per_row({}, 300, 300, 0.05), 0.05);
}

/// A profile like those of real programs: a few functions have most samples, many have one or none.
class Sampling {
 public:
  explicit Sampling(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 300; ++i) weights_.push_back(1.0 / (i + 1));
  }
  std::vector<double>& weights() { return weights_; }
  std::vector<int> draw(int samples) {
    std::discrete_distribution<size_t> pick(weights_.begin(), weights_.end());
    std::vector<int> counts(weights_.size());
    for (int i = 0; i < samples; ++i) ++counts[pick(random_)];
    return counts;
  }

 private:
  std::mt19937_64 random_;
  std::vector<double> weights_;
};

size_t claims(const std::vector<int>& a, double n, const std::vector<int>& b, double m,
              size_t first = 0) {
  std::vector<double> both;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] + b[i] > 0) both.push_back(a[i] + b[i]);
  double error = error_per_row(both, n, m, 0.05);
  size_t found = 0;
  for (size_t i = first; i < a.size(); ++i)
    if (share_difference(a[i] / n, n, b[i] / m, m, error).leaves_out_zero()) ++found;
  return found;
}

TEST(ShareDifferenceStatistics, TheSameProgramRarelyDiffers) {
  Sampling program(1);
  int wrong = 0;
  for (int i = 0; i < 400; ++i) {
    int n = 300 + 20 * (i % 100), m = 2000;
    if (claims(program.draw(n), n, program.draw(m), m) > 0) ++wrong;
  }
  EXPECT_LE(wrong, 20);  // 5 in 100
}

TEST(ShareDifferenceStatistics, WhatChangedIsFound) {
  Sampling before(2), after(3);
  after.weights()[0] *= 1.5;  // from 16 % to 22 %
  int found = 0;
  for (int i = 0; i < 50; ++i)
    if (claims(before.draw(4000), 4000, after.draw(4000), 4000) > 0) ++found;
  EXPECT_GE(found, 45);
}

}  // namespace
}  // namespace sonde
