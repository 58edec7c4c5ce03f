#include "replay/passes/block_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace sonde {
namespace {

using Blocks = std::vector<size_t>;

Blocks take_all(BlockShares& shares, size_t share) {
  Blocks taken;
  while (auto block = shares.next(share)) taken.push_back(*block);
  return taken;
}

TEST(BlockShares, DealsOutRuns) {
  BlockShares shares(5, 2);
  EXPECT_EQ(shares.size(), 2u);
  EXPECT_EQ(take_all(shares, 0), (Blocks{0, 1}));
  EXPECT_EQ(take_all(shares, 1), (Blocks{2, 3, 4}));
}

TEST(BlockShares, HalvesTheLargest) {
  BlockShares shares(30, 3);
  EXPECT_EQ(shares.next(1), 10u);  // 9 are left
  EXPECT_EQ(shares.next(2), 20u);
  EXPECT_EQ(shares.next(2), 21u);  // 8 are left
  EXPECT_EQ(shares.split_largest(), 3u);
  EXPECT_EQ(shares.first_block(3), 16u);
  EXPECT_EQ(shares.end_block(1), 16u);
  EXPECT_EQ(take_all(shares, 3), (Blocks{16, 17, 18, 19}));
  EXPECT_EQ(take_all(shares, 1), (Blocks{11, 12, 13, 14, 15}));
}

TEST(BlockShares, LeavesSmallOnesAndThoseNotBegun) {
  BlockShares shares(24, 2);
  EXPECT_EQ(shares.split_largest(), std::nullopt);
  for (size_t i = 0; i < 5; ++i) shares.next(0);  // 7 are left
  EXPECT_EQ(shares.split_largest(), std::nullopt);
}

TEST(BlockShares, OfNoBlocksIsEmpty) {
  BlockShares shares(0, 1);
  EXPECT_EQ(shares.next(0), std::nullopt);
  EXPECT_EQ(shares.split_largest(), std::nullopt);
}

TEST(BlockShares, GivesEachBlockOnceToThreads) {
  constexpr size_t kBlocks = 10000, kThreads = 4;
  BlockShares shares(kBlocks, kThreads);
  std::vector<Blocks> taken(kThreads);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (std::optional<size_t> share = i; share; share = shares.split_largest())
        std::ranges::copy(take_all(shares, *share), std::back_inserter(taken[i]));
    });
  threads.clear();
  Blocks all, expected(kBlocks);
  for (const Blocks& some : taken) all.insert(all.end(), some.begin(), some.end());
  std::ranges::sort(all);
  for (size_t i = 0; i < kBlocks; ++i) expected[i] = i;
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace sonde
