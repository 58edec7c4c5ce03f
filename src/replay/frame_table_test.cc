#include "replay/frame_table.h"

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
