// DrainPace: how long to wait before rings are read again. The kernel wakes us when a ring is half
// full, which on a busy machine with a high record rate leaves too little time. So the next read is
// scheduled for when, at the last measured rate, the fullest ring will be one eighth full. At low
// rates we sleep until the kernel wakes us. If we came too late (a busy machine did not schedule us
// in time) we read on without a pause, because sleeping means waiting to be scheduled again.
#pragma once

#include <chrono>
#include <cstddef>

namespace sonde {

/// The sooner of two waits; less than 0: indefinitely.
constexpr int sooner_ms(int a, int b) {
  if (a < 0 || b < 0) return a < 0 ? b : a;
  return a < b ? a : b;
}

class DrainPace {
 public:
  /// What a recorder that is killed loses of what is in the rings.
  static constexpr int kMostMs = 1000;
  using Clock = std::chrono::steady_clock;
  explicit DrainPace(Clock::time_point now) : last_(now) {}

  /// To be called after a read in which the fullest ring, of `ring_bytes`, yielded `most_bytes`.
  /// Returns the milliseconds to wait, -1: indefinitely.
  int next_wait_ms(Clock::time_point now, size_t most_bytes, size_t ring_bytes);

 private:
  Clock::time_point last_;
};

}  // namespace sonde
