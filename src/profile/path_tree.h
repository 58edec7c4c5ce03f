// The second pass of a profile: merges the uses of paths into one prefix tree, with the sums of
// every run.
#pragma once

#include "profile/call_trie.h"
#include "profile/path_uses.h"
#include "replay/column.h"

namespace sonde {

/// The samples that share a row and a call path.
struct PathEnd {
  uint32_t node;   // last step of the path in the trie; the root if there is no path
  uint32_t depth;  // number of steps to it
  uint32_t row;
  uint32_t count;
  uint32_t first_sample;
  uint64_t period;
};

/// One sample of a path end.
struct EndSample {
  uint32_t end;
  uint32_t sample;
};

/// Of the samples at and below each node of a run.
struct PathSums {
  uint64_t period;
  uint32_t count;   // samples
  uint32_t first;   // the earliest sample
  uint32_t height;  // steps below the run's last node
};

struct PathTree {
  CallTrie trie;
  LargeVector<PathEnd> ends;           // in node order; rows are filled in later
  std::vector<uint32_t> roots;         // in node order
  Column<PathSums> sums;               // by run
  std::vector<uint32_t> own;           // by end: place key of the samples' own place
  std::vector<ModePeriods> modes;      // by end; if requested
  std::vector<SourcePeriods> sources;  // the same
  LargeVector<EndSample> members;      // by end; if the options keep them
};

/// With `children`, the tree has one root per group, otherwise one per group and own place.
[[nodiscard]] PathTree build_path_tree(const PathUses& uses, std::span<const uint32_t> key_of_step,
                                       const ProfileOptions& options, const SampleColumns& samples);

}  // namespace sonde
