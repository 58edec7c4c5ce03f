#include "capture/rings/drain_pace.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using std::chrono::milliseconds;
constexpr size_t kRing = 512 * 1024;

TEST(DrainPace, FastRecordsAreReadAtAnEighth) {
  DrainPace::Clock::time_point start{};
  DrainPace pace(start);
  // Half a ring in 25 ms: an eighth takes a quarter of that.
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(25), kRing / 2, kRing), 6);
  // Then an eighth in 6 ms: the pace stays.
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(31), kRing / 8, kRing), 6);
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(32), kRing / 2, kRing), 1);
}

TEST(DrainPace, WhoCameTooLateReadsOn) {
  DrainPace::Clock::time_point start{};
  DrainPace pace(start);
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(25), kRing, kRing), 0);
}

TEST(DrainPace, SlowRecordsAreLeftToTheKernel) {
  DrainPace::Clock::time_point start{};
  DrainPace pace(start);
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(1000), kRing / 2, kRing), -1);
  EXPECT_EQ(pace.next_wait_ms(start + milliseconds(1001), 0, kRing), -1);
}

}  // namespace
}  // namespace sonde
