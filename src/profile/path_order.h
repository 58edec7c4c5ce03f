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
#include "replay/frame_table.h"

namespace sonde {

/// Samples with the same row and the same call path.
struct PathUse {
  const FrameId* steps;  // of the path, as they were recorded: the sampled place first
  uint32_t length;
  uint32_t group;
  uint32_t own;                // place key of the samples' own place
  bool has_addresses = false;  // the steps are not the chain's frames
  uint64_t period = 0;
};

struct PathOrderOptions {
  bool by_own = false;      // the own place belongs to the head: a tree per row
  bool from_root = false;   // paths begin with the step that was recorded last
  uint64_t min_weight = 0;  // period; 0: all paths are told apart
};

struct OrderedPath {
  uint64_t word;  // of the sort
  uint32_t use;
  uint32_t kept : 31;     // steps
  uint32_t is_alike : 1;  // head and steps kept are those of the path before it
};

/// What heads are compared by.
[[nodiscard]] inline uint64_t head_of(const PathUse& use, const PathOrderOptions& options) {
  return (uint64_t{use.group} << 32) | (options.by_own ? use.own : 0);
}

/// The key of step `index` of a path, in the order of the trie.
[[nodiscard]] inline uint32_t key_at(const PathUse& use, uint32_t index,
                                     std::span<const uint32_t> key_of_step, bool from_root) {
  return key_of_step[use.steps[from_root ? use.length - 1 - index : index].index()];
}

/// Uses stand in the order of their samples, paths in another one, and their steps anywhere: each
/// is fetched some time before the walk over the paths comes to it.
inline void prefetch_uses(std::span<const PathUse> uses, std::span<const OrderedPath> paths,
                          size_t at) {
  constexpr size_t kUseAhead = 16, kStepsAhead = 8;
  if (at + kUseAhead < paths.size()) __builtin_prefetch(&uses[paths[at + kUseAhead].use]);
  if (at + kStepsAhead < paths.size()) {
    const PathUse& use = uses[paths[at + kStepsAhead].use];
    __builtin_prefetch(use.steps);
    __builtin_prefetch(use.steps + use.length);
  }
}

[[nodiscard]] LargeVector<OrderedPath> order_paths(std::span<const PathUse> uses,
                                                   std::span<const uint32_t> key_of_step,
                                                   const PathOrderOptions& options);

}  // namespace sonde
