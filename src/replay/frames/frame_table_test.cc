#include "replay/frames/frame_table.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(FrameTable, OnePlaceHasOneId) {
  FrameTable frames;
  DsoId libc(size_t{3});
  FrameId first = frames.intern(libc, 0x100, FrameLevel::kUser);
  EXPECT_EQ(frames.intern(libc, 0x100, FrameLevel::kUser), first);
  EXPECT_NE(frames.intern(libc, 0x101, FrameLevel::kUser), first);
  EXPECT_NE(frames.intern(DsoId(), 0x100, FrameLevel::kUser), first);
  EXPECT_NE(frames.intern(libc, 0x100, FrameLevel::kKernel), first);
  EXPECT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[first].address, 0x100u);
}

TEST(FrameTable, KnowsAnyAddressAgain) {
  FrameTable frames;
  // With and without their own region: offsets, kernel addresses, generated code, unmapped ones.
  const uint64_t bases[] = {0, 0xffffffff81000000, 0x7f0000000000, 0xfffffffe00000000};
  for (int round = 0; round < 2; ++round) {
    size_t expected = 0;
    for (DsoId dso : {DsoId(size_t{0}), DsoId(size_t{1}), DsoId()})
      for (uint64_t base : bases)
        for (uint64_t i = 0; i < 1000; ++i)
          ASSERT_EQ(frames.intern(dso, base + i * 16, FrameLevel::kUser), FrameId(expected++));
  }
  EXPECT_EQ(frames[FrameId(size_t{1999})].address, 0xffffffff81000000 + 999 * 16);
  EXPECT_EQ(frames[FrameId(size_t{4001})].dso, DsoId(size_t{1}));
}

TEST(ChainTable, AppendedChainsGetNewFrames) {
  ChainTable chains, later;
  std::vector<FrameId> a = {FrameId(size_t{1}), FrameId(size_t{2})};
  std::vector<FrameId> b = {FrameId(size_t{0})};
  chains.intern(a);
  later.intern(a);
  ChainId second = later.intern(b);
  const FrameId frame_of[] = {FrameId(size_t{7}), FrameId(size_t{8}), FrameId(size_t{9})};
  later.renumber(frame_of);
  size_t first = chains.size();
  chains.append(std::move(later));
  EXPECT_EQ(chains.size(), 3u);
  EXPECT_TRUE(std::ranges::equal(chains[ChainId(size_t{0})], a));
  EXPECT_EQ(chains[ChainId(first)][1], FrameId(size_t{9}));
  EXPECT_EQ(chains[ChainId(first + second.index())][0], FrameId(size_t{7}));
}

TEST(ChainTable, OneChainHasOneId) {
  ChainTable chains;
  std::vector<FrameId> a = {FrameId(size_t{1}), FrameId(size_t{2})};
  std::vector<FrameId> b = {FrameId(size_t{2}), FrameId(size_t{1})};
  ChainId first = chains.intern(a);
  EXPECT_EQ(chains.intern(a), first);
  ChainId second = chains.intern(b);
  EXPECT_NE(second, first);
  EXPECT_TRUE(std::ranges::equal(chains[first], a));
  EXPECT_TRUE(std::ranges::equal(chains[second], b));
}

TEST(ChainTable, FindsChainsAgainAfterGrowing) {
  ChainTable chains;
  for (uint32_t round = 0; round < 2; ++round)
    for (size_t i = 0; i < 10000; ++i) {
      std::vector<FrameId> chain(i % 7 + 1, FrameId(i));
      EXPECT_EQ(chains.intern(chain), ChainId(i));
    }
  EXPECT_EQ(chains.size(), 10000u);
}

}  // namespace
}  // namespace sonde
