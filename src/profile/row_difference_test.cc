#include "profile/row_difference.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

MatchedRow row(std::string name, std::optional<uint64_t> before, std::optional<uint64_t> after) {
  MatchedRow made;
  made.identity = {std::move(name)};
  for (auto period : {before, after})
    made.cells.push_back({.present = period.has_value(), .period = period.value_or(0)});
  return made;
}

std::string order_of(RowDifference::Options options, std::vector<MatchedRow> rows) {
  RowDifference(options, {1000, 2000}).sort(rows);
  std::string names;
  for (const MatchedRow& each : rows) names += each.identity[0];
  return names;
}

const std::vector<MatchedRow> kRows = {row("a", 100, 200), row("b", 500, 200),
                                       row("c", std::nullopt, 900), row("d", 300, std::nullopt),
                                       row("e", 100, 700)};

TEST(RowDifference, DeltasAreOfShares) {
  RowDifference difference({.method = DiffMethod::kDelta}, {1000, 2000});
  EXPECT_DOUBLE_EQ(*difference.of(kRows[1], 1), -40);
  EXPECT_DOUBLE_EQ(*difference.of(kRows[2], 1), 45);
  EXPECT_FALSE(difference.of(kRows[3], 1).has_value());
}

TEST(RowDifference, RatiosAndWeightsAreOfPeriods) {
  EXPECT_DOUBLE_EQ(*RowDifference({.method = DiffMethod::kRatio}, {1000, 2000}).of(kRows[0], 1), 2);
  RowDifference weighted({.method = DiffMethod::kWeighted, .baseline_weight = 3, .data_weight = 2},
                         {1000, 2000});
  EXPECT_EQ(weighted.weighted(kRows[0], 1), 100);
  RowDifference huge({.method = DiffMethod::kWeighted, .data_weight = INT64_MAX}, {1000, 2000});
  EXPECT_EQ(huge.weighted(kRows[0], 1), INT64_MAX);
}

TEST(RowDifference, OrderOfTheMethods) {
  EXPECT_EQ(order_of({.method = DiffMethod::kDeltaAbs}, kRows), "cbead");
  EXPECT_EQ(order_of({.method = DiffMethod::kDelta}, kRows), "ceabd");
  // Without a baseline there is no ratio: such rows sort after those that have one.
  EXPECT_EQ(order_of({.method = DiffMethod::kRatio}, kRows), "eabcd");
  EXPECT_EQ(order_of({.method = DiffMethod::kDelta, .sort_side = 0}, kRows), "bdeac");
}

TEST(RowDifference, IdentitiesHaveAnOrder) {
  EXPECT_LT(compare_identities("9", "10"), 0);
  EXPECT_GT(compare_identities("b", "a10"), 0);
  EXPECT_GT(compare_identities("", "zzz"), 0);
  EXPECT_EQ(compare_identities("", ""), 0);
}

}  // namespace
}  // namespace sonde
