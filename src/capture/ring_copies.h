// RingCopies: what rings held, copied into memory of our own and given back to the kernel at once.
// Whoever works on records takes the copies of a stretch; those of the last stretches are kept, up
// to a number of bytes, for a recording that is saved afterwards.
#pragma once

#include <deque>
#include <vector>

#include "capture/ring_set.h"
#include "perfdata/record.h"

namespace sonde {

class RingCopies {
 public:
  /// `keep_bytes`: how much of what was taken stays.
  RingCopies(std::vector<CaptureRing>& rings, size_t keep_bytes)
      : rings_(&rings), waiting_(rings.size()), keep_bytes_(keep_bytes) {}

  /// Copies what has come. Gives the most bytes that a ring held.
  size_t drain();
  /// What was copied since the last time, a block per ring; it holds until the next call.
  [[nodiscard]] std::vector<RecordBlock> take();
  /// What `take` gave, as far as it was kept: a stretch after the other, blocks of whole records.
  [[nodiscard]] const std::deque<std::vector<std::vector<std::byte>>>& kept() const {
    return kept_;
  }
  /// Whether something that was taken is gone.
  [[nodiscard]] bool dropped_any() const { return dropped_any_; }

 private:
  std::vector<CaptureRing>* rings_;
  std::vector<std::vector<std::byte>> waiting_;  // by ring
  std::deque<std::vector<std::vector<std::byte>>> kept_;
  size_t keep_bytes_, kept_bytes_ = 0;
  bool dropped_any_ = false;
};

}  // namespace sonde
