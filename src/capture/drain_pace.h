// DrainPace: how long to wait before rings are read again. The kernel wakes us when a ring is half
// full; where records come fast that leaves too little time on a busy machine. So the next reading
// is set for when, at the rate of the last, the fullest ring will be an eighth full. Where records
// come slowly we sleep until the kernel wakes us. Where we came too late (a busy machine gave us no
// turn in time) we read on without a pause, as whoever sleeps has to wait for the next turn.
#pragma once

#include <chrono>
#include <cstddef>

namespace sonde {

class DrainPace {
 public:
  using Clock = std::chrono::steady_clock;
  explicit DrainPace(Clock::time_point now) : last_(now) {}

  /// After a reading in which the fullest ring of `ring_bytes` gave `most_bytes`: milliseconds to
  /// wait, -1 without end.
  int next_wait_ms(Clock::time_point now, size_t most_bytes, size_t ring_bytes);

 private:
  Clock::time_point last_;
};

}  // namespace sonde
