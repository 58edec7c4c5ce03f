// Times of this machine, in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace sonde {

/// CLOCK_MONOTONIC: for durations; BPF's bpf_ktime_get_ns() reads the same clock.
inline uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace sonde
