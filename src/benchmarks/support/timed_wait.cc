#include "benchmarks/support/timed_wait.h"

#include <poll.h>

#include <algorithm>

#include "base/clock.h"

namespace sonde {

Result<TimedWait> TimedWait::create() {
  return TimedWait(TRY(SignalQueue::create()));
}

void TimedWait::wait(unsigned seconds) {
  uint64_t end_ns = monotonic_ns() + uint64_t{seconds} * 1'000'000'000;
  for (uint64_t now_ns = monotonic_ns(); now_ns < end_ns; now_ns = monotonic_ns()) {
    constexpr uint64_t kLongestMs = 60'000;
    uint64_t left_ms = (end_ns - now_ns + 999'999) / 1'000'000;
    pollfd signals{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
    ::poll(&signals, 1, static_cast<int>(std::min(left_ms, kLongestMs)));
    while (auto number = signals_.next())
      if (*number == SIGINT || *number == SIGTERM) return;
  }
}

}  // namespace sonde
