#include "export/layout/block_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sonde {
namespace {

using testing::ElementsAre;

TEST(BlockOrder, PutsTheOftenerWayStraightOn) {
  // 0 goes to 2 nearly always, both go to 3.
  std::vector<OrderedBlock> blocks = {{16, 100}, {16, 2}, {16, 98}, {16, 100}};
  std::vector<OrderedEdge> edges = {{0, 1, 2}, {0, 2, 98}, {1, 3, 2}, {2, 3, 98}};
  EXPECT_THAT(order_blocks(blocks, edges), ElementsAre(0, 2, 3, 1));
}

TEST(BlockOrder, KeepsAnOrderThatIsAsGood) {
  std::vector<OrderedBlock> blocks = {{16, 100}, {16, 50}, {16, 100}};
  std::vector<OrderedEdge> edges = {{0, 1, 50}, {0, 2, 50}, {1, 2, 50}};
  EXPECT_THAT(order_blocks(blocks, edges), ElementsAre(0, 1, 2));
  EXPECT_THAT(order_blocks(std::vector<OrderedBlock>{{4, 1}}, {}), ElementsAre(0));
}

TEST(BlockOrder, TurnsLoopsSoThatTheEntryStaysFirst) {
  // The loop 1 → 2 → 1 is entered at 2.
  std::vector<OrderedBlock> blocks = {{16, 1}, {16, 1000}, {16, 1001}, {16, 1}};
  std::vector<OrderedEdge> edges = {{0, 2, 1}, {1, 2, 1000}, {2, 1, 1000}, {2, 3, 1}};
  std::vector<uint32_t> order = order_blocks(blocks, edges);
  EXPECT_EQ(order.front(), 0u);
  EXPECT_GE(value_of_order(blocks, edges, order),
            value_of_order(blocks, edges, std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(BlockOrder, IsWorthWhatTheHeuristicSays) {
  std::vector<OrderedBlock> blocks = {{64, 1}, {256, 1}, {64, 1}};
  std::vector<uint32_t> order = {0, 1, 2};
  std::vector<OrderedEdge> straight = {{0, 1, 10}}, ahead = {{0, 2, 10}}, back = {{2, 0, 10}};
  EXPECT_DOUBLE_EQ(value_of_order(blocks, straight, order), 10);
  EXPECT_DOUBLE_EQ(value_of_order(blocks, ahead, order), 1 - 256.0 / 1024);
  EXPECT_DOUBLE_EQ(value_of_order(blocks, back, order), 1 - 384.0 / 640);
  EXPECT_DOUBLE_EQ(value_of_order(blocks, ahead, std::vector<uint32_t>{0, 1}), 0);
}

TEST(BlockOrder, IsThatOfAllOrdersForFewBlocksOrNear) {
  std::minstd_rand random(7);  // a known sequence
  double best_sum = 0, found_sum = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<OrderedBlock> blocks(6);
    for (OrderedBlock& block : blocks) block = {static_cast<uint32_t>(random() % 60 + 4), 1};
    std::vector<OrderedEdge> edges;
    for (uint32_t from = 0; from < blocks.size(); ++from)
      for (uint32_t to = 0; to < blocks.size(); ++to)
        if (random() % 3 == 0) edges.push_back({from, to, random() % 1000});
    std::vector<uint32_t> order = order_blocks(blocks, edges), all(blocks.size());
    std::iota(all.begin(), all.end(), 0u);
    double found = value_of_order(blocks, edges, order), best = value_of_order(blocks, edges, all);
    EXPECT_GE(found, best);  // the given order
    EXPECT_EQ(order.front(), 0u);
    EXPECT_TRUE(std::ranges::is_permutation(order, all));
    while (std::ranges::next_permutation(all.begin() + 1, all.end()).found)
      best = std::max(best, value_of_order(blocks, edges, all));
    EXPECT_LE(found, best + 1e-6);
    best_sum += best;
    found_sum += found;
  }
  EXPECT_GT(found_sum, 0.97 * best_sum);
}

TEST(BlockOrder, OfManyBlocksHasEachOnce) {
  std::minstd_rand random(11);
  std::vector<OrderedBlock> blocks(3000);
  for (OrderedBlock& block : blocks) block = {static_cast<uint32_t>(random() % 60), random() % 99};
  std::vector<OrderedEdge> edges;
  for (uint32_t from = 0; from < blocks.size(); ++from) {
    edges.push_back({from, static_cast<uint32_t>(random() % blocks.size()), random() % 1000});
    edges.push_back({from, (from + 1) % static_cast<uint32_t>(blocks.size()), random() % 1000});
  }
  std::vector<uint32_t> order = order_blocks(blocks, edges), all(blocks.size());
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(order.front(), 0u);
  std::ranges::sort(order);
  EXPECT_EQ(order, all);
}

}  // namespace
}  // namespace sonde
