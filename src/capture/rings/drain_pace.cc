#include "capture/rings/drain_pace.h"

#include <algorithm>

namespace sonde {

int DrainPace::next_wait_ms(Clock::time_point now, size_t most_bytes, size_t ring_bytes) {
  constexpr size_t kWanted = 8;       // read at 1/8 of the ring
  constexpr double kMaxLength = 100;  // if slower than that, the kernel's wakeup is early enough
  std::chrono::duration<double, std::milli> passed = now - last_;
  last_ = now;
  if (most_bytes == 0) return -1;
  // The kernel wakes us at half full, so beyond this point we were not scheduled in time.
  if (most_bytes > ring_bytes / 4 * 3) return 0;
  double wait = passed.count() * static_cast<double>(ring_bytes) /
                (static_cast<double>(most_bytes) * kWanted);
  return wait > kMaxLength ? -1 : std::max(1, static_cast<int>(wait));
}

}  // namespace sonde
