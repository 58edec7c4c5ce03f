// RingCopies: copies the contents of rings to our own memory and gives the space back to the kernel
// at once. The consumer takes the copies in batches; the most recent batches are kept, up to a
// number of bytes, for a recording that is saved afterwards.
//
// Rings in overwrite mode are read when a batch is taken: it has their most recent records, and
// what was overwritten before is gone, as asked for.
#pragma once

#include <deque>
#include <vector>

#include "capture/rings/ring_set.h"
#include "capture/unwinding/chain_joiner.h"
#include "perfdata/records/record.h"

namespace sonde {

class RingCopies {
 public:
  /// `keep_bytes`: how much of what was taken is kept.
  RingCopies(RingSet& set, size_t keep_bytes)
      : set_(&set), waiting_(set.rings().size()), keep_bytes_(keep_bytes) {}

  /// From now on user chains are joined with their samples (--call-graph bpf).
  void set_joiner(ChainJoiner* joiner) { joiner_ = joiner; }

  /// Copies what has arrived in forward rings. Returns the largest number of bytes that a ring
  /// held.
  size_t drain();
  /// What was copied since the last call, one block per ring; valid until the next call.
  [[nodiscard]] std::vector<RecordBlock> take();
  /// What `take` returned, as far as it was kept: one batch after the other, as blocks of whole
  /// records.
  [[nodiscard]] const std::deque<std::vector<std::vector<std::byte>>>& kept() const {
    return kept_;
  }
  /// Whether anything that was taken has been dropped.
  [[nodiscard]] bool dropped_any() const { return dropped_any_; }

 private:
  void read_backward();

  RingSet* set_;
  ChainJoiner* joiner_ = nullptr;
  std::vector<std::vector<std::byte>> waiting_;  // by ring
  std::deque<std::vector<std::vector<std::byte>>> kept_;
  size_t keep_bytes_, kept_bytes_ = 0;
  bool dropped_any_ = false;
};

}  // namespace sonde
