#include "stacks/alike_paths.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/hashing/digest.h"
#include "base/parallel.h"
#include "replay/column.h"

namespace sonde {
namespace {

constexpr size_t kSlice = 4096;  // uses per task

/// Of the group and the keys of each path.
Column<Digest> digests_of(std::span<const PathUse> uses, std::span<const uint32_t> key_of_step) {
  Column<Digest> digests(uses.size());
  parallel_for((uses.size() + kSlice - 1) / kSlice, [&](size_t slice) {
    std::vector<uint32_t> keys;
    for (size_t i = slice * kSlice; i < std::min(uses.size(), (slice + 1) * kSlice); ++i) {
      keys.resize(1 + uses[i].length);
      keys[0] = uses[i].group;
      for (size_t step = 0; step < uses[i].length; ++step)
        keys[1 + step] = key_of_step[uses[i].steps[step].index()];
      digests[i] = digest_of(std::span<const uint32_t>(keys));
    }
  });
  return digests;
}

/// Hash table of the digests kept so far. Sized for all digests up front: a growing table would be
/// rewritten several times, into memory that has not been touched yet.
class AlikeDigests {
 public:
  explicit AlikeDigests(const Column<Digest>& digests)
      : digests_(digests), slots_(std::bit_ceil(2 * digests.size() + 1)) {}

  /// The number of the kept digest that equals `digest`, or `next`, the number under which the
  /// caller then keeps it.
  uint32_t find_or_add(const Digest& digest, uint32_t next) {
    size_t mask = slots_.size() - 1;
    for (size_t at = digest.low & mask;; at = (at + 1) & mask) {
      uint32_t& slot = slots_[at];
      if (slot == 0) {
        slot = next + 1;
        return next;
      }
      if (digests_[slot - 1] == digest) return slot - 1;
    }
  }

 private:
  const Column<Digest>& digests_;
  // Number plus 1; at most half full. They are written before they are read: memory that is read
  // first is faulted in twice.
  LargeVector<uint32_t> slots_;
};

}  // namespace

LargeVector<uint32_t> join_alike_paths(LargeVector<PathUse>& uses,
                                       std::span<const uint32_t> key_of_step) {
  Column<Digest> digests = digests_of(uses, key_of_step);
  LargeVector<uint32_t> path_of_use(uses.size());
  AlikeDigests known(digests);
  uint32_t paths = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    uint32_t path = known.find_or_add(digests[i], paths);
    path_of_use[i] = path;
    if (path == paths) {
      digests[paths] = digests[i];
      uses[paths++] = uses[i];
    } else {
      uses[path].period += uses[i].period;
    }
  }
  uses.resize(paths);
  return path_of_use;
}

}  // namespace sonde
