#include "histogram/buckets.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace sonde {
namespace {

bool contains(const BucketScale::Bounds& bounds, WideNumber value) {
  return (bounds.open_below || bounds.first <= value) &&
         (bounds.open_above || value <= bounds.last);
}

TEST(Buckets, ValuesAreInTheirBucket) {
  constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
  BucketScale powers;
  BucketScale linear{.size = 10, .from = -20, .to = 100};
  for (uint64_t value : std::to_array<uint64_t>(
           {0, 1, 2, 3, 4, 7, 8, 99, 100, 1023, 1024, uint64_t{1} << 63, kLargest}))
    for (const BucketScale& scale : {powers, linear}) {
      EXPECT_TRUE(contains(scale.bounds(scale.bucket_of(value, false)), value)) << value;
      auto with_sign = static_cast<int64_t>(value);
      EXPECT_TRUE(contains(scale.bounds(scale.bucket_of(value, true)), with_sign)) << with_sign;
    }
}

TEST(Buckets, OrderIsThatOfValues) {
  BucketScale scale;
  int32_t before = std::numeric_limits<int32_t>::min();
  for (int64_t value : std::to_array<int64_t>(
           {std::numeric_limits<int64_t>::min(), -1000, -3, -1, 0, 1, 2, 5, 1000})) {
    int32_t bucket = scale.bucket_of(static_cast<uint64_t>(value), true);
    EXPECT_GT(bucket, before) << value;
    before = bucket;
  }
}

TEST(Buckets, OfOneSizeEndWhereTheyAreToldTo) {
  BucketScale scale = parse_linear("10us,0,1ms", true).value();
  EXPECT_EQ(scale, (BucketScale{.size = 10'000, .from = 0, .to = 1'000'000}));
  EXPECT_EQ(scale.bucket_of(999'999, false), 99);
  EXPECT_EQ(scale.bucket_of(1'000'000, false), 100);
  EXPECT_TRUE(scale.bounds(100).open_above);
  scale = parse_linear("5,-10,10", false).value();
  EXPECT_EQ(scale.bucket_of(static_cast<uint64_t>(-11), true), -1);
  EXPECT_EQ(scale.bucket_of(static_cast<uint64_t>(-10), true), 0);
  EXPECT_TRUE(scale.bounds(-1).open_below);
  EXPECT_TRUE(scale.bounds(-1).last == -11);
}

TEST(Buckets, BadScalesAreRefused) {
  for (const char* text : {"", "1", "1,2", "0,0,10", "-1,0,10", "3,0,10", "1,5,5", "1,0,5000",
                           "1us,0,10us", "1,0,99999999999999999999", "a,b,c"})
    EXPECT_FALSE(parse_linear(text, false)) << text;
  EXPECT_FALSE(parse_linear("1m,0,10m", true));
  EXPECT_FALSE(parse_linear("1s,0,9223372036854775807s", true));
}

}  // namespace
}  // namespace sonde
