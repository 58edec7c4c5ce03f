// An order of a function's blocks in which the ways that run most often go straight on, or jump
// near: the extended travelling salesman problem (A. Newell, S. Pupyrev, "Improved Basic Block
// Reordering", IEEE Transactions on Computers, 2020).
//
// An order is worth the sum over all edges of their count times
//
//   1                         if the second block follows the first immediately
//   0.1 * (1 - d / 1024)      if it is d bytes ahead, less than 1024
//   0.1 * (1 - d / 640)       if it is d bytes back, less than 640
//
// Chains of blocks, at first one for each, are joined two at a time: always those that gain most,
// in the best of several ways, one chain of which may be split to take up the other. The entry
// stays first. The order that the compiler chose is kept if the result is worth no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

struct OrderedBlock {
  uint32_t size = 0;  // bytes
  uint64_t count = 0;
};
struct OrderedEdge {
  uint32_t from = 0, to = 0;  // indices of blocks
  uint64_t count = 0;
};

/// `blocks`: in the order that they have, the entry first. Returns their indices in the new order.
[[nodiscard]] std::vector<uint32_t> order_blocks(std::span<const OrderedBlock> blocks,
                                                 std::span<const OrderedEdge> edges);

/// What an order is worth. Edges from or to blocks that it lacks count nothing.
[[nodiscard]] double value_of_order(std::span<const OrderedBlock> blocks,
                                    std::span<const OrderedEdge> edges,
                                    std::span<const uint32_t> order);

}  // namespace sonde
