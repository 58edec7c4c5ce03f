#include "replay/fields/time_ranges.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(TimeRanges, HaveBothTheirEnds) {
  auto ranges = parse_time_ranges("1.5,2 3,", 0, 0);
  ASSERT_TRUE(ranges);
  for (uint64_t inside : {kSecond * 3 / 2, kSecond * 2, kSecond * 3, kSecond * 99})
    EXPECT_TRUE(is_in(*ranges, inside)) << inside;
  for (uint64_t outside : {kSecond, kSecond * 2 + 1, kSecond * 3 - 1})
    EXPECT_FALSE(is_in(*ranges, outside)) << outside;
  EXPECT_TRUE(is_in({}, 7));
}

TEST(TimeRanges, SharesNextToEachOtherHaveNoTimeInCommon) {
  auto first = parse_time_ranges("10%/1", 1000, 2000),
       second = parse_time_ranges("10%/2", 1000, 2000);
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*first)[0].from_ns, 1000u);
  EXPECT_EQ((*first)[0].to_ns + 1, (*second)[0].from_ns);
}

TEST(TimeRanges, OneSpanInSeconds) {
  auto span = parse_time_span("1.5,2.5");
  ASSERT_TRUE(span);
  EXPECT_EQ(span->from_ns, kSecond * 3 / 2);
  EXPECT_EQ(span->to_ns, kSecond * 5 / 2);
  auto all = parse_time_span("");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->has(0) && all->has(UINT64_MAX));
  for (const char* wrong : {"10%", "1,2 3,4", "2,1", "x"})
    EXPECT_FALSE(parse_time_span(wrong)) << wrong;
}

}  // namespace
}  // namespace sonde
