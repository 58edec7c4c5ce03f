// What was read from one ring and waits to be handed out: records in the order in which they were
// written.
#pragma once

#include <deque>
#include <vector>

#include "capture/rings/ring_buffer.h"
#include "perfdata/read/ordering.h"

namespace sonde {

class RingLane {
 public:
  explicit RingLane(const EventTable& events) : events_(&events) {}

  /// Copies the contents of a ring.
  void add(const RingPiece& piece);
  /// The oldest record; null if there is none. A record without a time gets that of its
  /// predecessor.
  [[nodiscard]] const TimedRecord* front() const { return has_front_ ? &front_ : nullptr; }
  void pop() {
    has_front_ = false;
    advance();
  }

 private:
  void advance();

  const EventTable* events_;
  std::deque<std::vector<std::byte>> chunks_;
  size_t position_ = 0;  // in the first chunk
  TimedRecord front_{};
  bool has_front_ = false;
  uint64_t last_ns_ = 0;
};

}  // namespace sonde
