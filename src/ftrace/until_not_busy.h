// Tracefs refuses to change a tracer, or to remove an instance, while somebody has its trace_pipe
// open; a killed process closes it only after a while.
#pragma once

#include <time.h>

#include <cerrno>

namespace sonde {

/// Calls `attempt` until it returns 0 or an errno other than EBUSY, for at most half a minute.
template <typename Attempt>
void until_not_busy(const Attempt& attempt) {
  constexpr int kAttempts = 600;
  constexpr timespec kPause{0, 50'000'000};
  for (int i = 0; i < kAttempts && attempt() == EBUSY; ++i) ::nanosleep(&kPause, nullptr);
}

}  // namespace sonde
