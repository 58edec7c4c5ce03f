#include "capture/recorders/mapped_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sonde {
namespace {

TEST(MappedRanges, TheLatestMappingOfEachAddressCounts) {
  constexpr uint32_t kNone = UINT32_MAX;
  constexpr uint64_t kAddresses = 64;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    MappedRanges ranges;
    std::vector<uint32_t> expected(kAddresses, kNone);  // by address
    for (uint32_t object = 0; object < 20; ++object) {
      uint64_t start = random() % kAddresses;
      uint64_t end = start + random() % (kAddresses - start + 1);
      ranges.add(start, end, object);
      for (uint64_t at = start; at < end; ++at) expected[at] = object;
      for (uint64_t at = 0; at < kAddresses; ++at)
        ASSERT_EQ(ranges.find(at, at + 1).value_or(kNone), expected[at]) << round << ' ' << at;
    }
  }
}

TEST(MappedRanges, APageFindsTheLastRangeInIt) {
  MappedRanges ranges;
  ranges.add(0x1100, 0x1200, 1);
  ranges.add(0x1800, 0x1900, 2);
  EXPECT_EQ(ranges.find(0x1000, 0x2000), 2u);
  EXPECT_EQ(ranges.find(0x1900, 0x2000), std::nullopt);
  EXPECT_EQ(ranges.find(0, 0x1000), std::nullopt);
}

}  // namespace
}  // namespace sonde
