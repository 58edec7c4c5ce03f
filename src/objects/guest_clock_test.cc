#include "objects/guest_clock.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TimeConvRecord conversion(uint64_t shift, uint64_t multiplier, uint64_t zero) {
  return {.shift = shift,
          .multiplier = multiplier,
          .zero = zero,
          .has_cycles = true,
          .cap_user_time_zero = 1};
}

TEST(GuestClockTest, TimesGoThroughBothCounters) {
  // 1410 ns are (1410 - 500) / 5 * 2 = 364 ticks, and those 1000 + 364 / 2 * 3 ns of the host.
  GuestClock clock(conversion(1, 5, 500), conversion(1, 3, 1000), 0, 1);
  EXPECT_EQ(clock.to_host(1410), 1546u);
}

TEST(GuestClockTest, TimesWithoutAConversionAreCounters) {
  EXPECT_EQ(GuestClock(std::nullopt, std::nullopt, 100, 1).to_host(1100), 1000u);
  EXPECT_EQ(GuestClock(std::nullopt, std::nullopt, 100, 2).to_host(1100), 500u);
  TimeConvRecord not_valid = conversion(1, 5, 500);
  not_valid.cap_user_time_zero = 0;
  EXPECT_EQ(GuestClock(not_valid, std::nullopt, 0, 1).to_host(1410), 1410u);
  EXPECT_EQ(GuestClock(TimeConvRecord{.shift = 1, .multiplier = 0, .zero = 0}, std::nullopt, 0, 1)
                .to_host(7),
            7u);
  EXPECT_EQ(GuestClock(conversion(64, 1, 0), conversion(200, 1, 0), 0, 1).to_host(7), 7u);
}

TEST(GuestClockTest, OffsetsMayBeNegative) {
  GuestClock clock(std::nullopt, std::nullopt, uint64_t{0} - 5000, 1);
  EXPECT_EQ(clock.to_host(1000), 6000u);
}

TEST(GuestClockTest, LargeCountersKeepTheirTicksWhenScaled) {
  uint64_t ticks = (uint64_t{1} << 61) + 1;
  EXPECT_EQ(GuestClock(std::nullopt, std::nullopt, 0, 0.5).to_host(ticks), 2 * ticks);
  EXPECT_EQ(GuestClock(std::nullopt, std::nullopt, 0, 1e-9).to_host(UINT64_MAX), UINT64_MAX);
}

TEST(GuestClockTest, ShortCountersBeginAtTheRecordedCycle) {
  TimeConvRecord host = conversion(0, 1, 0);
  host.cap_user_time_short = 1;
  host.cycles = 0x1000;
  host.mask = 0xff;
  EXPECT_EQ(GuestClock(std::nullopt, host, 0, 1).to_host(0x2010), 0x1010u);
}

}  // namespace
}  // namespace sonde
