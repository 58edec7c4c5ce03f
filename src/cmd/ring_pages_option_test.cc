#include "cmd/ring_pages_option.h"

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

}  // namespace
}  // namespace sonde
