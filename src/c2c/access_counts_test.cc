#include "c2c/access_counts.h"

#include <gtest/gtest.h>

namespace sonde::c2c {
namespace {

constexpr uint64_t kAddress = 0x1000;
constexpr uint64_t kLoad = 1 << 1, kStore = 1 << 2;
constexpr uint64_t kHit = 1 << 6, kMiss = 1 << 7, kL1 = 1 << 8, kL3 = 1 << 11,
                   kRemoteCache = 1 << 15, kUnknownLevel = 1 << 5;
constexpr uint64_t kModified = uint64_t{1} << 23, kSnoopHit = uint64_t{1} << 21,
                   kPeer = uint64_t{2} << 38;

TEST(AccessCounts, ALoadOfAModifiedLineIsAHitmOfItsNode) {
  AccessCounts local = counts_of(kLoad | kHit | kL3 | kModified, kAddress, true);
  EXPECT_EQ(local.local_hitm, 1U);
  EXPECT_EQ(local.llc_hits, 0U);
  AccessCounts remote = counts_of(kLoad | kHit | kRemoteCache | kModified, kAddress, true);
  EXPECT_EQ(remote.remote_hitm, 1U);
  EXPECT_EQ(remote.all_hitm(), 1U);
  AccessCounts clean = counts_of(kLoad | kHit | kRemoteCache | kSnoopHit, kAddress, true);
  EXPECT_EQ(clean.all_hitm(), 0U);
  EXPECT_EQ(clean.remote_hits, 1U);
}

TEST(AccessCounts, APeerAnswersWithoutTellingTheState) {
  EXPECT_EQ(counts_of(kLoad | kHit | kL3 | kPeer, kAddress, true).local_peer, 1U);
  EXPECT_EQ(counts_of(kLoad | kHit | kRemoteCache | kPeer, kAddress, true).remote_peer, 1U);
}

TEST(AccessCounts, StoresCountByL1) {
  EXPECT_EQ(counts_of(kStore | kHit | kL1, kAddress, true).store_l1_hits, 1U);
  EXPECT_EQ(counts_of(kStore | kMiss | kL1, kAddress, true).store_l1_misses, 1U);
  EXPECT_EQ(counts_of(kStore | kUnknownLevel, kAddress, true).stores_of_unknown_level, 1U);
}

TEST(AccessCounts, WithoutAddressNothingElseIsKnown) {
  AccessCounts load = counts_of(kLoad | kHit | kL1, 0, false);
  EXPECT_EQ(load.loads_without_address, 1U);
  EXPECT_EQ(load.l1_hits, 0U);
  EXPECT_EQ(load.unmapped, 0U);
  EXPECT_EQ(counts_of(0, kAddress, true).unparsed, 1U);
  EXPECT_EQ(counts_of(kLoad | kHit | kL1, kAddress, false).unmapped, 1U);
}

TEST(AccessCounts, AddsEveryCount) {
  AccessCounts sum;
  for (uint64_t source : {kLoad | kHit | kL1, kStore | kHit | kL1, kLoad | kHit | kL3 | kModified})
    sum.add(counts_of(source, kAddress, true));
  EXPECT_EQ(sum.records, 3U);
  EXPECT_EQ(sum.served_loads(), 2U);
  EXPECT_EQ(sum.served(), 3U);
}

}  // namespace
}  // namespace sonde::c2c
