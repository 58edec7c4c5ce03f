#include "capture/recorders/capture_values.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(RingPagesInto, PutsAPowerOfTwoWhereItIsTold) {
  uint64_t pages = 0;
  EXPECT_TRUE(ring_pages_into(pages)("3"));
  EXPECT_EQ(pages, 4u);
}

TEST(RingPagesInto, RefusesWhatIsNoSizeAndLeavesTheOldOne) {
  uint64_t pages = 8;
  EXPECT_FALSE(ring_pages_into(pages)("0"));
  EXPECT_FALSE(ring_pages_into(pages)("many"));
  EXPECT_EQ(pages, 8u);
}

TEST(FrequencyInto, TakesANumberOrMax) {
  SamplingOptions sampling;
  EXPECT_TRUE(frequency_into(sampling)("max"));
  EXPECT_TRUE(sampling.freq_max);
  EXPECT_TRUE(frequency_into(sampling)("1000"));
  EXPECT_FALSE(sampling.freq_max);
  EXPECT_EQ(sampling.freq, 1000u);
  EXPECT_FALSE(frequency_into(sampling)("often"));
}

}  // namespace
}  // namespace sonde
