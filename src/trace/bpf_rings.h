// BpfRings: the records of several rings in the order of time.
//
//   rings.look(monotonic_ns() - slack, false);
//   while (Bytes record = rings.front(); !record.empty()) { … rings.pop(); }
//
// A record is written a moment after its time was taken. So what came in the last moments waits
// until `safe_ns` has gone by: then none that is older can follow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/bpf_ring.h"

namespace sonde {

class BpfRings {
 public:
  explicit BpfRings(std::span<BpfRing> rings);

  /// Records of up to `safe_ns` are handed out from now on, as far as they have been written.
  void look(uint64_t safe_ns);
  /// The oldest; empty: none. Holds until pop().
  [[nodiscard]] Bytes front() const { return front_; }
  [[nodiscard]] uint64_t front_ns() const { return front_ns_; }
  void pop();
  /// Records too short to be any, so far.
  [[nodiscard]] uint64_t bad() const { return bad_; }

 private:
  struct Head {
    BpfRing* ring;
    Bytes record = {};
    uint64_t time_ns = UINT64_MAX;  // of `record`; UINT64_MAX: there is none
    uint32_t popped = 0;            // since its room was given back
  };
  void fetch(Head& head);
  void choose();

  std::vector<Head> heads_;
  size_t front_head_ = 0;
  Bytes front_;
  uint64_t front_ns_ = 0;
  uint64_t next_ns_ = UINT64_MAX;  // of the oldest record of any other ring
  uint64_t safe_ns_ = 0;
  uint64_t bad_ = 0;
};

}  // namespace sonde
