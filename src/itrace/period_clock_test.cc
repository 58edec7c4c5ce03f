#include "itrace/period_clock.h"

#include <gtest/gtest.h>

namespace sonde::itrace {
namespace {

TEST(PeriodClock, EndsAtMultiplesOfThePowerOfTwoBelow) {
  PeriodClock clock(100);            // 64
  EXPECT_FALSE(clock.passes(1000));  // 1001 is after 960
  EXPECT_FALSE(clock.passes(1022));
  EXPECT_TRUE(clock.passes(1023));
  EXPECT_FALSE(clock.passes(1030));
  EXPECT_TRUE(clock.passes(5000));
  EXPECT_FALSE(clock.passes(5000));
}

TEST(PeriodClock, InstructionsPassTimeBetweenPackets) {
  PeriodClock clock(8);
  int samples = 0;
  for (int i = 0; i < 80; ++i) samples += clock.passes(1000) ? 1 : 0;
  EXPECT_EQ(samples, 10);
}

TEST(PeriodClock, WhatPassesWhileTracingStandsIsNotSampled) {
  PeriodClock clock(64);
  clock.passes(1000);
  clock.pause();
  EXPECT_FALSE(clock.passes(9000));
  EXPECT_FALSE(clock.passes(9000));
}

}  // namespace
}  // namespace sonde::itrace
