// The cycles that a trace's CYC packets count, told when the flow gets to where they belong.
//
// libipt reads ahead: while it still hands out the bits of one TNT packet, it is already past the
// CYC that stands in front of the next. So the bits are counted here, and a CYC waits for those
// before it.
#pragma once

#include <cstdint>
#include <deque>

#include "base/bytes.h"
#include "pt/flow_decoder.h"

namespace sonde::pt {

class CyclePackets {
 public:
  explicit CyclePackets(Bytes trace) : trace_(trace) {}

  /// Decoding begins at that offset, or goes on there after an error.
  void begin(uint64_t offset);
  /// A block that ends with this instruction ran; libipt has read up to the offset.
  void ran(const Instruction& last, uint64_t offset);
  /// Cycles that passed before what comes next, since the latest call; 0: no CYC packet told any.
  uint64_t due(uint64_t offset);

 private:
  struct Waiting {
    uint64_t bits;  // of TNT packets, to be consumed before
    uint64_t cycles;
  };
  void read_to(uint64_t offset);

  Bytes trace_;
  uint64_t at_ = 0;
  uint64_t bits_ = 0;  // that were read and not yet consumed
  std::deque<Waiting> waiting_;
};

}  // namespace sonde::pt
