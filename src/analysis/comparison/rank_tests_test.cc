#include "analysis/comparison/rank_tests.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

TEST(RankTests, AllPairsInOneDirection) {
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0.1, 0.3, 0.2, 0.4, 0.6, 0.5}), 2.0 / 64);
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{-0.1, -0.3, -0.2, -0.4, -0.6, -0.5}), 2.0 / 64);
  EXPECT_DOUBLE_EQ(least_signed_rank_p(6), 2.0 / 64);
}

TEST(RankTests, KnownValuesOfTheSignedRankTest) {
  // Ranks 1 … 8, of which 3 and 1 are negative: 2 * 7 of 256 subsets have a sum of at most 4: 0, 1,
  // 2, 3, 1+2, 4, 1+3.
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{-1., 2., -3., 4., 5., 6., 7., 8.}), 14.0 / 256);
  // Without a difference there is nothing to rank.
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0., 0., 0.}), 1);
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0., 1., 0.}), 1);
}

TEST(RankTests, TiesShareTheirRanks) {
  // Four equal magnitudes: only the number of signs matters; in 2 of 16 ways all have the same
  // sign.
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{1., 1., 1., 1.}), 2.0 / 16);
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{1., 1., 1., -1.}), 10.0 / 16);
}

TEST(RankTests, KnownValuesOfTheRankSumTest) {
  std::vector<double> low{1, 2, 3, 4}, high{5, 6, 7, 8};
  EXPECT_NEAR(rank_sum_p(low, high), 2.0 / 70, 1e-12);
  EXPECT_NEAR(least_rank_sum_p(4, 4), 2.0 / 70, 1e-12);
  EXPECT_NEAR(rank_sum_p(std::vector{1., 4., 6., 7.}, std::vector{2., 3., 5., 8.}), 1, 1e-12);
  EXPECT_DOUBLE_EQ(rank_sum_p(std::vector{1., 1.}, std::vector{1., 1.}), 1);
}

TEST(RankTests, ManyValuesGoByTheNormalDistribution) {
  std::vector<double> differences, a, b;
  for (int i = 1; i <= 200; ++i) {
    differences.push_back(i % 4 == 0 ? -i : i);
    a.push_back(i);
    b.push_back(i + 40);
  }
  EXPECT_LT(signed_rank_p(differences), 1e-8);
  EXPECT_LT(rank_sum_p(a, b), 1e-9);
  for (size_t i = 0; i < differences.size(); i += 2) differences[i] = -differences[i];
  for (double& value : b) value -= 40;
  EXPECT_GT(rank_sum_p(a, b), 0.99);
}

TEST(RankTests, ExactAndNormalMeet) {
  std::vector<double> differences;
  for (int i = 1; i <= 64; ++i) differences.push_back(i % 3 == 0 ? -i - 0.5 : i);
  double exact = signed_rank_p(differences);
  differences.push_back(1e-3);  // one more, the smallest: hardly any weight
  EXPECT_NEAR(signed_rank_p(differences), exact, 0.1 * exact);
}

TEST(RankTests, ConstantsThatDiffer) {
  EXPECT_DOUBLE_EQ(two_constants_p(5, 5), 2.0 / 1024);
  EXPECT_DOUBLE_EQ(two_constants_p(1, 1), 0.5);
}

}  // namespace
}  // namespace sonde
