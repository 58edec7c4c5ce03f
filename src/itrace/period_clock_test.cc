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

TEST(PeriodClock, SkippingIsTheSameAsPassingOneByOne) {
  PeriodClock one(32), many(32);
  uint64_t now = 1000;
  for (uint64_t step = 0; step < 500; ++step) {
    now += step % 7 == 0 ? step % 50 : 0;
    uint64_t instructions = step * 5 % 23;
    int passed = 0, passed_many = 0;
    for (uint64_t i = 0; i < instructions; ++i) passed += one.passes(now) ? 1 : 0;
    if (!many.skips(now, instructions))
      for (uint64_t i = 0; i < instructions; ++i) passed_many += many.passes(now) ? 1 : 0;
    ASSERT_EQ(passed, passed_many) << step;
  }
}

TEST(PeriodClock, SaysHowManyItSkips) {
  PeriodClock clock(16);
  EXPECT_EQ(clock.skippable(100), 0U);  // nothing passed yet
  (void)clock.passes(100);
  for (uint64_t now : {uint64_t{100}, uint64_t{105}, uint64_t{111}}) {
    uint64_t most = clock.skippable(now);
    PeriodClock copy = clock;
    EXPECT_TRUE(copy.skips(now, most));
    copy = clock;
    EXPECT_FALSE(copy.skips(now, most + 1));
  }
  EXPECT_EQ(clock.skippable(1000), 0U);
}

}  // namespace
}  // namespace sonde::itrace
