#include "ftrace/call_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "ftrace/call_profile.h"

namespace sonde {
namespace {

using testing::HasSubstr;

std::string text_of(const CallTimes& times, const CallTimesStyle& style) {
  StringSink out;
  write_call_times(out, times, style);
  return out.text();
}

TEST(CallTimes, BucketsDoubleFromOneUnitOn) {
  auto us = [](uint64_t ns) { return CallTimes::bucket_of(ns, TimeUnit::kMicroseconds); };
  EXPECT_EQ(us(0), 0u);
  EXPECT_EQ(us(999), 0u);
  EXPECT_EQ(us(1000), 1u);
  EXPECT_EQ(us(1999), 1u);
  EXPECT_EQ(us(2000), 2u);
  EXPECT_EQ(us(1'048'576'000), CallTimes::kBuckets - 1);
  EXPECT_EQ(us(UINT64_MAX), CallTimes::kBuckets - 1);
  EXPECT_EQ(CallTimes::bucket_of(5, TimeUnit::kNanoseconds), 3u);
}

TEST(CallTimes, EveryBucketIsALineWithItsShareOfTheBar) {
  CallTimes times;
  for (uint64_t ns : {500u, 1500u, 3000u, 3999u}) times.add(ns, TimeUnit::kMicroseconds);
  std::string text = text_of(times, {});
  auto lines = split(text, '\n');
  ASSERT_GT(lines.size(), CallTimes::kBuckets);
  EXPECT_EQ(lines[0],
            "#   DURATION     |      COUNT | GRAPH                                          |");
  EXPECT_EQ(lines[1],
            "     0 - 1    us |          1 | ###########                                    |");
  EXPECT_EQ(lines[3],
            "     2 - 4    us |          2 | #######################                        |");
  EXPECT_EQ(lines[11],
            "   512 - 1024 us |          0 |                                                |");
  EXPECT_EQ(lines[12],
            "     1 - 2    ms |          0 |                                                |");
  EXPECT_EQ(lines[22],
            "     1 - ...   s |          0 |                                                |");
  EXPECT_THAT(text, HasSubstr("total time:                    8\n"));
  EXPECT_THAT(text, HasSubstr("max time:                    3\n"));
  EXPECT_THAT(text, HasSubstr("min time:                    0\n"));
  EXPECT_THAT(text, HasSubstr("count:                    4\n"));
  EXPECT_EQ(split(text_of(times, {.hide_empty = true}), '\n')[3], lines[3]);
}

TEST(CallTimes, NanosecondsAreAnotherUnitOfTheSameBuckets) {
  CallTimes times;
  times.add(3000, TimeUnit::kNanoseconds);
  std::string text = text_of(times, {.unit = TimeUnit::kNanoseconds, .hide_empty = true});
  EXPECT_THAT(text, HasSubstr("\n     2 - 4    us |          1 | #####"));
  EXPECT_THAT(text, HasSubstr("(in nsec)\n  total time:                 3000\n"));
}

TEST(CallProfile, AddsUpByFunctionAndSorts) {
  CallProfile profile;
  profile.add("b", 1000);
  profile.add("a", 5000);
  profile.add("b", 3000);
  profile.add("b", 2000);
  profile.add("c", 5500);
  auto order = [&](CallSort sort) {
    std::string names;
    for (const CallProfile::Row& row : profile.sorted(sort)) names += row.name;
    return names;
  };
  EXPECT_EQ(order(CallSort::kTotal), "bca");
  EXPECT_EQ(order(CallSort::kAverage), "cab");
  EXPECT_EQ(order(CallSort::kMax), "cab");
  EXPECT_EQ(order(CallSort::kCount), "bac");
  EXPECT_EQ(order(CallSort::kName), "abc");
  StringSink out;
  write_call_profile(out, profile.sorted(CallSort::kTotal));
  EXPECT_EQ(std::string(split(out.text(), '\n')[1]),
            "       6.000      2.000      3.000          3   b");
  EXPECT_TRUE(parse_call_sort("avg").has_value());
  EXPECT_FALSE(parse_call_sort("mean").has_value());
}

}  // namespace
}  // namespace sonde
