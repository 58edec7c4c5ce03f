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
  auto us = [](uint64_t ns) { return CallBuckets().of(ns); };
  EXPECT_EQ(us(0), 0u);
  EXPECT_EQ(us(999), 0u);
  EXPECT_EQ(us(1000), 1u);
  EXPECT_EQ(us(1999), 1u);
  EXPECT_EQ(us(2000), 2u);
  EXPECT_EQ(us(1'048'576'000), CallTimes::kBuckets - 1);
  EXPECT_EQ(us(UINT64_MAX), CallTimes::kBuckets - 1);
  EXPECT_EQ(CallBuckets{.unit = TimeUnit::kNanoseconds}.of(5), 3u);
}

TEST(CallTimes, EveryBucketIsALineWithItsShareOfTheBar) {
  CallTimes times;
  for (uint64_t ns : {500u, 1500u, 3000u, 3999u}) times.add(ns, {});
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
  CallBuckets nanoseconds{.unit = TimeUnit::kNanoseconds};
  times.add(3000, nanoseconds);
  std::string text = text_of(times, {.buckets = nanoseconds, .hide_empty = true});
  EXPECT_THAT(text, HasSubstr("\n     2 - 4    us |          1 | #####"));
  EXPECT_THAT(text, HasSubstr("(in nsec)\n  total time:                 3000\n"));
}

TEST(CallTimes, BucketsOfOneSizeHaveOthersAroundThem) {
  CallBuckets buckets{.range = 5, .from = 10, .to = 22};
  ASSERT_TRUE(buckets.settle());
  EXPECT_EQ(buckets.count(), 5u);
  CallTimes times;
  for (uint64_t us : {0u, 9u, 10u, 14u, 15u, 20u, 21u, 22u, 1000u})
    times.add(us * 1000 + 999, buckets);
  std::string text = text_of(times, {.buckets = buckets});
  auto lines = split(text, '\n');
  EXPECT_TRUE(lines[1].starts_with("     0 - 10   us |          2 |")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("    10 - 15   us |          2 |")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("    15 - 20   us |          1 |")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("    20 - 22   us |          2 |")) << lines[4];
  EXPECT_TRUE(lines[5].starts_with("    22 - ...  us |          2 |")) << lines[5];
}

TEST(CallTimes, BucketsThatCannotBeAreRefused) {
  auto error = [](CallBuckets buckets) {
    Result<> settled = buckets.settle();
    return settled ? std::string() : settled.error().message;
  };
  EXPECT_EQ(error({.range = 5}), "");
  EXPECT_THAT(error({.from = 5}), HasSubstr("--bucket-range"));
  EXPECT_THAT(error({.range = 5, .from = 10, .to = 10}), HasSubstr("not above"));
  EXPECT_THAT(error({.range = 1, .to = 21}), HasSubstr("more than 20 buckets"));
  EXPECT_THAT(error({.range = UINT64_MAX}), HasSubstr("too large"));
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
