#include "analysis/latencies/latency_text.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(LatencyText, TimesAndLatencies) {
  auto read =
      read_latency_text("TIMEus DELTAus\n10 5\n\n  12.5\t7e1 more words\r\n# said\n13 -1", "x");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->lines.size(), 3u);
  EXPECT_EQ(read->lines[1].time, 12.5);
  EXPECT_EQ(read->lines[1].latency, 70);
  EXPECT_EQ(read->lines[2].latency, -1);
  EXPECT_EQ(read->skipped, 0u);  // a heading does not count
}

TEST(LatencyText, OtherLinesAreCounted) {
  auto read = read_latency_text("1 2\nthree four\n5\n6 nan\n7 inf\n8 9x\n10 11\n", "x");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->lines.size(), 2u);
  EXPECT_EQ(read->skipped, 5u);
  EXPECT_EQ(read->first_skipped, 2u);
}

TEST(LatencyText, NothingGoodIsAnError) {
  EXPECT_FALSE(read_latency_text("", "x").has_value());
  EXPECT_FALSE(read_latency_text("a b\nc d\n", "x").has_value());
}

}  // namespace
}  // namespace sonde
