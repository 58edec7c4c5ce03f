#include "base/hashing/number_hash.h"

#include <gtest/gtest.h>
#include <tsl/robin_map.h>

namespace sonde {
namespace {

TEST(NumberHash, NumbersWhoseLowBitsAreAlikeTakeNoMoreRoomThanOthers) {
  tsl::robin_map<uint64_t, uint64_t, NumberHash> table;
  constexpr uint64_t kCount = 20'000;  // more than robin_map's maximum probe length
  for (unsigned shift : {0u, 12u, 32u, 40u})
    for (uint64_t i = 0; i < kCount; ++i) table[i << shift] = i;
  for (uint64_t i = 1; i < kCount; ++i) ASSERT_EQ(table.at(i << 40), i);
  EXPECT_LE(table.bucket_count(), 16 * kCount);
}

}  // namespace
}  // namespace sonde
