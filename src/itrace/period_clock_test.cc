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

}  // namespace
}  // namespace sonde::itrace
