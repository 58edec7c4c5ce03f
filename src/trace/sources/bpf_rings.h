// BpfRings: the records of several rings in time order.
//
//   rings.look(monotonic_ns() - slack);
//   while (Bytes record = rings.front(); !record.empty()) { … rings.pop(); }
//
// A record is written a moment after its timestamp is taken. Recent records are therefore held back
// until `safe_ns` has passed them: nothing older can arrive after that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/bpf_ring.h"

namespace sonde {

class BpfRings {
 public:
  explicit BpfRings(std::span<BpfRing> rings);

  /// From now on, hands out records up to `safe_ns`, as far as they have been written.
  void look(uint64_t safe_ns);
  /// The oldest record; empty if there is none. Valid until pop().
  [[nodiscard]] Bytes front() const { return front_; }
  [[nodiscard]] uint64_t front_ns() const { return front_ns_; }
  void pop();
  /// Number of records so far that were too short to be valid.
  [[nodiscard]] uint64_t bad() const { return bad_; }

 private:
  struct Head {
    BpfRing* ring;
    Bytes record = {};
    uint64_t time_ns = UINT64_MAX;  // of `record`; UINT64_MAX: none
    uint32_t popped = 0;            // since space was last given back to the ring
  };
  void fetch(Head& head);
  void choose();

  std::vector<Head> heads_;
  size_t front_head_ = 0;
  Bytes front_;
  uint64_t front_ns_ = 0;
  uint64_t next_ns_ = UINT64_MAX;  // of the oldest record in any other ring
  uint64_t safe_ns_ = 0;
  uint64_t bad_ = 0;
};

}  // namespace sonde
