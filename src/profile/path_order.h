// Call paths in an order in which paths that begin alike stand together, which is all that a prefix
// tree is made of (call_trie.h).
//
// The order is by *head* (a number of the caller's choice), then by the keys of the steps, a
// shorter path before its continuations, then by own place. It is a sort by words of two steps:
// each round looks at one more word of the paths that were alike so far, so no path is read further
// than it takes to tell it apart, and the rounds of different beginnings run in parallel.
//
// Where only heavy paths will be looked at (`min_weight`), beginnings that weigh less are not taken
// further apart: their paths count as ending there (`kept` steps).
#pragma once

#include <cstdint>
#include <span>

#include "base/large_vector.h"

namespace sonde {

/// Samples with the same row and the same call path.
struct PathUse {
  uint32_t group;
  uint32_t own;        // place key of the samples' own place
  uint64_t first_key;  // of the path, in the table of keys; steps in the order of the trie
  uint32_t length;     // steps
  uint32_t count = 0;  // samples
  uint64_t period = 0;
  uint32_t first_sample = UINT32_MAX;
};

struct PathOrderOptions {
  bool by_own = false;      // the own place belongs to the head: a tree per row
  uint64_t min_weight = 0;  // period; 0: all paths are told apart
};

struct OrderedPath {
  uint64_t word;  // of the sort
  uint32_t use;
  uint32_t kept;  // steps
};

/// What heads are compared by.
[[nodiscard]] inline uint64_t head_of(const PathUse& use, const PathOrderOptions& options) {
  return (uint64_t{use.group} << 32) | (options.by_own ? use.own : 0);
}

[[nodiscard]] LargeVector<OrderedPath> order_paths(std::span<const PathUse> uses,
                                                   std::span<const uint32_t> keys,
                                                   const PathOrderOptions& options);

}  // namespace sonde
