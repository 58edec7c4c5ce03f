// Sorts call paths so that those with a common prefix are together, which is all that building a
// prefix tree takes (call_trie.h).
//
// The order is by *head* (a number chosen by the caller), then by the keys of the steps, with a
// shorter path before its continuations, then by own place. It sorts by words of two steps: each
// round looks at one more word of the paths that were equal so far, so no path is read further than
// needed to distinguish it, and rounds for different prefixes run in parallel.
//
// If only heavy paths matter (`min_weight`), prefixes below that weight are not split further:
// their paths count as ending there (`kept` steps).
#pragma once

#include <cstdint>
#include <span>

#include "base/large_vector.h"
#include "replay/frames/frame_table.h"

namespace sonde {

/// Samples with the same row and the same call path.
struct PathUse {
  const FrameId* steps;  // of the path, as recorded: the sampled place first
  uint32_t length;
  uint32_t group;
  uint32_t own;  // place key of the samples' own place
  /// Whose run-time addresses distinguish the steps (RunTimeAddresses); kNoAddresses: nobody's, the
  /// steps are the chain's frames.
  static constexpr uint32_t kNoAddresses = UINT32_MAX - 1;
  uint32_t owner = kNoAddresses;
  uint64_t period = 0;
};

struct PathOrderOptions {
  bool by_own = false;      // the own place is part of the head: a tree per row
  bool from_root = false;   // paths begin with the step that was recorded last
  uint64_t min_weight = 0;  // period; 0: all paths are distinguished
};

struct OrderedPath {
  uint64_t word;  // current sort word
  uint32_t use;
  uint32_t kept : 31;     // steps
  uint32_t is_alike : 1;  // same head and same kept steps as the previous path
};

/// The head, by which paths are compared first.
[[nodiscard]] inline uint64_t head_of(const PathUse& use, const PathOrderOptions& options) {
  return (uint64_t{use.group} << 32) | (options.by_own ? use.own : 0);
}

/// The key of step `index` of a path, in trie order.
[[nodiscard]] inline uint32_t key_at(const PathUse& use, uint32_t index,
                                     std::span<const uint32_t> key_of_step, bool from_root) {
  return key_of_step[use.steps[from_root ? use.length - 1 - index : index].index()];
}

/// Uses are in the order of their samples, paths in another order, and their steps anywhere in
/// memory: prefetches each some time before the walk over the paths reaches it.
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
