#include "stacks/alike_paths.h"

#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "profile/interner.h"

namespace sonde {
namespace {

constexpr size_t kSlice = 4096;  // uses that one task takes

struct Digest {
  uint64_t low, high;
};

/// 128 bits of a path: paths with the same ones are taken for the same.
LargeVector<Digest> digests_of(std::span<const PathUse> uses,
                               std::span<const uint32_t> key_of_step) {
  LargeVector<Digest> digests(uses.size());
  parallel_for((uses.size() + kSlice - 1) / kSlice, [&](size_t slice) {
    std::vector<uint32_t> keys;
    for (size_t i = slice * kSlice; i < std::min(uses.size(), (slice + 1) * kSlice); ++i) {
      keys.resize(uses[i].length);
      for (size_t step = 0; step < keys.size(); ++step)
        keys[step] = key_of_step[uses[i].steps[step].index()];
      XXH128_hash_t hash =
          XXH3_128bits_withSeed(keys.data(), keys.size() * sizeof keys[0], uses[i].group);
      digests[i] = {hash.low64, hash.high64};
    }
  });
  return digests;
}

}  // namespace

LargeVector<uint32_t> join_alike_paths(LargeVector<PathUse>& uses,
                                       std::span<const uint32_t> key_of_step) {
  LargeVector<Digest> digests = digests_of(uses, key_of_step);
  LargeVector<uint32_t> path_of_use(uses.size());
  Interner known(2);
  size_t paths = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    uint32_t path = known.intern({digests[i].low, digests[i].high});
    path_of_use[i] = path;
    if (path == paths)
      uses[paths++] = uses[i];
    else
      uses[path].period += uses[i].period;
  }
  uses.resize(paths);
  return path_of_use;
}

}  // namespace sonde
