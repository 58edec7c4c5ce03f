#include "itrace/cycle_estimate.h"

#include <gtest/gtest.h>

namespace sonde::itrace {
namespace {

TEST(CycleEstimate, CyclesAreTimeAtTheCoresFrequency) {
  CycleEstimate estimate(24);
  estimate.set_ratio(36, 900);
  estimate.begin(1000);
  EXPECT_EQ(estimate.total(1001), 1u);  // and a half
  EXPECT_EQ(estimate.total(1010), 15u);
  estimate.set_ratio(12, 1020);
  EXPECT_EQ(estimate.total(1040), 40u);
}

TEST(CycleEstimate, WhatIsNotTracedIsNotCounted) {
  CycleEstimate estimate(24);
  estimate.set_ratio(24, 0);
  estimate.begin(100);
  estimate.pause(110);
  EXPECT_EQ(estimate.total(500), 10u);  // where it goes on without having been told
  EXPECT_EQ(estimate.total(505), 15u);
  estimate.pause(510);
  estimate.set_ratio(48, 550);
  estimate.set_ratio(24, 560);
  estimate.begin(600);
  EXPECT_EQ(estimate.total(600), 20u);
}

TEST(CycleEstimate, NothingIsKnownWithoutFrequencies) {
  CycleEstimate of_nothing(24), off;
  EXPECT_TRUE(of_nothing.is_on());
  EXPECT_FALSE(off.is_on());
  of_nothing.begin(100);
  EXPECT_EQ(of_nothing.total(200), 0u);
}

TEST(CycleEstimate, TimesThatGoBackTakeNothingAway) {
  CycleEstimate estimate(24);
  estimate.set_ratio(24, 0);
  estimate.begin(100);
  EXPECT_EQ(estimate.total(150), 50u);
  EXPECT_EQ(estimate.total(120), 50u);
  EXPECT_EQ(estimate.total(160), 60u);
}

}  // namespace
}  // namespace sonde::itrace
