#include "export/pictures/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(Axis, StepsAreRound) {
  EXPECT_DOUBLE_EQ(round_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(round_step(10.1, 10), 2);
  EXPECT_DOUBLE_EQ(round_step(21, 10), 5);
  EXPECT_DOUBLE_EQ(round_step(0.0021, 10), 0.0005);
  EXPECT_DOUBLE_EQ(round_step(0, 10), 1);
  EXPECT_DOUBLE_EQ(round_step(1e300 * 1e300, 10), 1);
}

TEST(Axis, TicksLieInside) {
  EXPECT_THAT(round_ticks(0.5, 3.2, 4), ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(3)));
  EXPECT_THAT(round_ticks(0, 0, 4), ElementsAre(DoubleEq(0)));
}

TEST(Axis, Texts) {
  EXPECT_EQ(time_text(850), "850 ns");
  EXPECT_EQ(time_text(12345), "12.3 µs");
  EXPECT_EQ(time_text(999999), "1 ms");
  EXPECT_EQ(time_text(1.5e6), "1.5 ms");
  EXPECT_EQ(time_text(2e9), "2 s");
  EXPECT_EQ(time_text(0), "0");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1500), "1.5k");
  EXPECT_EQ(short_number(2250000), "2.25M");
  EXPECT_EQ(plain_number(9340.25, 9), "9340.25");
  EXPECT_EQ(plain_number(100), "100");
  EXPECT_EQ(plain_number(0.00012, 3), "0.00012");
}

}  // namespace
}  // namespace sonde
