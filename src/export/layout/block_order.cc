#include "export/layout/block_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <queue>
#include <tuple>

namespace sonde {
namespace {

constexpr double kJumpWeight = 0.1;
constexpr uint64_t kFarthestAhead = 1024, kFarthestBack = 640;  // bytes
/// Chains that are longer together are joined as a whole.
constexpr size_t kLongestSplit = 128;
constexpr double kLeastGain = 1e-8;

double edge_value(uint64_t source_end, uint64_t target, uint64_t count) {
  auto weight = static_cast<double>(count);
  if (source_end == target) return weight;
  bool is_ahead = target > source_end;
  uint64_t distance = is_ahead ? target - source_end : source_end - target;
  uint64_t farthest = is_ahead ? kFarthestAhead : kFarthestBack;
  if (distance >= farthest) return 0;
  return kJumpWeight * weight * (1 - static_cast<double>(distance) / static_cast<double>(farthest));
}

class ChainJoiner {
 public:
  ChainJoiner(std::span<const OrderedBlock> blocks, std::span<const OrderedEdge> edges)
      : blocks_(blocks), edges_(edges), chains_(blocks.size()), chain_of_(blocks.size()) {
    std::iota(chain_of_.begin(), chain_of_.end(), 0u);
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      chains_[i].blocks = {i};
      chains_[i].size = blocks[i].size;
    }
    for (uint32_t e = 0; e < edges.size(); ++e) {
      chains_[edges[e].from].edges.push_back(e);
      if (edges[e].to != edges[e].from) chains_[edges[e].to].edges.push_back(e);
    }
    offset_.resize(blocks.size());
    start_.resize(blocks.size());
    is_placed_.resize(blocks.size());
  }

  std::vector<uint32_t> join() && {
    for (uint32_t i = 0; i < chains_.size(); ++i)
      chains_[i].value = value_of(i, i, {chains_[i].blocks});
    for (uint32_t i = 0; i < chains_.size(); ++i) propose_joins(i);
    while (!joins_.empty()) {
      Join best = joins_.top();
      joins_.pop();
      if (chains_[best.first].version == best.first_version &&
          chains_[best.second].version == best.second_version)
        carry_out(best);
    }
    return take_order();
  }

 private:
  using Blocks = std::vector<uint32_t>;
  using Part = std::span<const uint32_t>;
  struct Chain {
    Blocks blocks;      // none: it is part of another
    Blocks edges;       // from and to its blocks
    uint64_t size = 0;  // bytes
    double value = 0;   // of the edges inside
    uint32_t version = 0;
  };
  /// Ways to join X and Y, where X is split in two.
  enum class Shape : uint8_t { kXY, kX1YX2, kYX2X1, kX2X1Y };
  struct Join {
    double gain = 0;
    uint32_t first = 0, second = 0;  // chains: X and Y
    uint32_t first_version = 0, second_version = 0;
    Shape shape = Shape::kXY;
    size_t split = 0;  // blocks of X1
    /// The last one is best; of equals, that of the first chains.
    friend bool operator<(const Join& a, const Join& b) {
      return std::tuple(a.gain, b.first, b.second, b.shape, b.split) <
             std::tuple(b.gain, a.first, a.second, a.shape, a.split);
    }
  };

  static std::array<Part, 3> parts_of(Part x, Part y, Shape shape, size_t split) {
    Part x1 = x.first(split), x2 = x.subspan(split);
    switch (shape) {
      case Shape::kX1YX2:
        return {x1, y, x2};
      case Shape::kYX2X1:
        return {y, x2, x1};
      case Shape::kX2X1Y:
        return {x2, x1, y};
      case Shape::kXY:
        break;
    }
    return {x, y, {}};
  }

  /// The value of the blocks of two chains in this order.
  double value_of(uint32_t x, uint32_t y, std::array<Part, 3> parts) {
    uint64_t at = 0;
    for (Part part : parts) {
      for (uint32_t block : part) {
        start_[block] = at;
        is_placed_[block] = true;
        at += blocks_[block].size;
      }
    }
    double sum = 0;
    auto add = [&](uint32_t e) {
      const OrderedEdge& edge = edges_[e];
      if (is_placed_[edge.from] && is_placed_[edge.to])
        sum += edge_value(start_[edge.from] + blocks_[edge.from].size, start_[edge.to], edge.count);
    };
    for (uint32_t e : chains_[x].edges) add(e);
    if (y != x)
      for (uint32_t e : chains_[y].edges)
        if (!touches(e, x)) add(e);
    for (Part part : parts)
      for (uint32_t block : part) is_placed_[block] = false;
    return sum;
  }

  [[nodiscard]] bool touches(uint32_t edge, uint32_t chain) const {
    return chain_of_[edges_[edge].from] == chain || chain_of_[edges_[edge].to] == chain;
  }
  /// What Y behind X gains: nothing changes inside of either.
  [[nodiscard]] double gain_behind(uint32_t x, uint32_t y) const {
    bool x_has_fewer = chains_[x].edges.size() < chains_[y].edges.size();
    auto start = [&](uint32_t block) {
      return offset_[block] + (chain_of_[block] == y ? chains_[x].size : 0);
    };
    double gain = 0;
    for (uint32_t e : chains_[x_has_fewer ? x : y].edges)
      if (touches(e, x) && touches(e, y))
        gain += edge_value(start(edges_[e].from) + blocks_[edges_[e].from].size,
                           start(edges_[e].to), edges_[e].count);
    return gain;
  }

  /// With every chain that an edge leads from or to.
  void propose_joins(uint32_t chain) {
    Blocks neighbours;
    for (uint32_t e : chains_[chain].edges)
      for (uint32_t block : {edges_[e].from, edges_[e].to})
        if (chain_of_[block] != chain) neighbours.push_back(chain_of_[block]);
    std::ranges::sort(neighbours);
    auto repeated = std::ranges::unique(neighbours);
    neighbours.erase(repeated.begin(), repeated.end());
    for (uint32_t other : neighbours) {
      Join best;
      propose(std::min(chain, other), std::max(chain, other), best);
      propose(std::max(chain, other), std::min(chain, other), best);
      if (best.gain > kLeastGain) joins_.push(best);
    }
  }
  void propose(uint32_t x, uint32_t y, Join& best) {
    propose(x, y, Shape::kXY, 0, best);
    const Blocks& split = chains_[x].blocks;
    if (split.size() + chains_[y].blocks.size() > kLongestSplit) return;
    for (size_t at = 1; at < split.size(); ++at)
      for (Shape shape : {Shape::kX1YX2, Shape::kYX2X1, Shape::kX2X1Y})
        if (goes_straight(x, y, shape, at)) propose(x, y, shape, at, best);
  }
  /// Whether a join of a split chain lets an edge go straight on that did not: others gain little.
  [[nodiscard]] bool goes_straight(uint32_t x, uint32_t y, Shape shape, size_t split) const {
    auto parts = parts_of(chains_[x].blocks, chains_[y].blocks, shape, split);
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      uint32_t from = parts[i].back(), to = parts[i + 1].front();
      const Blocks& edges = chains_[chain_of_[from]].edges;
      if (std::ranges::any_of(
              edges, [&](uint32_t e) { return edges_[e].from == from && edges_[e].to == to; }))
        return true;
    }
    return false;
  }
  void propose(uint32_t x, uint32_t y, Shape shape, size_t split, Join& best) {
    auto parts = parts_of(chains_[x].blocks, chains_[y].blocks, shape, split);
    bool has_entry = chains_[x].blocks.front() == 0 || chains_[y].blocks.front() == 0;
    if (has_entry && parts[0].front() != 0) return;
    double gain = shape == Shape::kXY ? gain_behind(x, y)
                                      : value_of(x, y, parts) - chains_[x].value - chains_[y].value;
    if (gain > best.gain) best = {gain, x, y, chains_[x].version, chains_[y].version, shape, split};
  }

  void carry_out(const Join& join) {
    Chain &x = chains_[join.first], &y = chains_[join.second];
    auto parts = parts_of(x.blocks, y.blocks, join.shape, join.split);
    x.value += y.value + join.gain;
    x.size += y.size;
    Blocks joined;
    for (Part part : parts) joined.insert(joined.end(), part.begin(), part.end());
    for (uint32_t e : y.edges)
      if (!touches(e, join.first)) x.edges.push_back(e);
    for (uint32_t block : y.blocks) chain_of_[block] = join.first;
    x.blocks = std::move(joined);
    uint64_t at = 0;
    for (uint32_t block : x.blocks) {
      offset_[block] = at;
      at += blocks_[block].size;
    }
    y.blocks.clear();
    y.edges.clear();
    ++x.version;
    ++y.version;
    propose_joins(join.first);
  }

  /// The entry's chain, then those whose code runs most often, byte for byte.
  std::vector<uint32_t> take_order() {
    Blocks left;
    std::vector<double> density(chains_.size());
    for (uint32_t i = 0; i < chains_.size(); ++i) {
      if (chains_[i].blocks.empty()) continue;
      left.push_back(i);
      double bytes = 0, runs = 0;
      for (uint32_t block : chains_[i].blocks) {
        bytes += blocks_[block].size;
        runs += static_cast<double>(blocks_[block].count) * blocks_[block].size;
      }
      density[i] = runs / std::max(bytes, 1.0);
    }
    std::ranges::stable_sort(left, [&](uint32_t a, uint32_t b) {
      bool has_entry_a = chain_of_[0] == a, has_entry_b = chain_of_[0] == b;
      return std::tuple(!has_entry_a, -density[a]) < std::tuple(!has_entry_b, -density[b]);
    });
    Blocks order;
    for (uint32_t i : left)
      order.insert(order.end(), chains_[i].blocks.begin(), chains_[i].blocks.end());
    return order;
  }

  std::span<const OrderedBlock> blocks_;
  std::span<const OrderedEdge> edges_;
  std::vector<Chain> chains_;        // by its first block at the beginning
  Blocks chain_of_;                  // by block
  std::priority_queue<Join> joins_;  // also outdated ones
  std::vector<uint64_t> offset_;     // by block, in its chain
  std::vector<uint64_t> start_;      // by block, while a value is computed
  std::vector<bool> is_placed_;
};

}  // namespace

double value_of_order(std::span<const OrderedBlock> blocks, std::span<const OrderedEdge> edges,
                      std::span<const uint32_t> order) {
  std::vector<uint64_t> start(blocks.size(), UINT64_MAX);
  uint64_t at = 0;
  for (uint32_t block : order) {
    start[block] = at;
    at += blocks[block].size;
  }
  double sum = 0;
  for (const OrderedEdge& edge : edges)
    if (start[edge.from] != UINT64_MAX && start[edge.to] != UINT64_MAX)
      sum += edge_value(start[edge.from] + blocks[edge.from].size, start[edge.to], edge.count);
  return sum;
}

std::vector<uint32_t> order_blocks(std::span<const OrderedBlock> blocks,
                                   std::span<const OrderedEdge> edges) {
  std::vector<uint32_t> given(blocks.size());
  std::iota(given.begin(), given.end(), 0u);
  if (blocks.size() < 2) return given;
  std::vector<uint32_t> order = ChainJoiner(blocks, edges).join();
  bool is_better =
      value_of_order(blocks, edges, order) > value_of_order(blocks, edges, given) + kLeastGain;
  return is_better ? order : given;
}

}  // namespace sonde
