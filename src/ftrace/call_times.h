// The distribution of call times: the histogram and the totals of `ftrace latency`.
#pragma once

#include <array>
#include <cstdint>

#include "base/sink.h"

namespace sonde {

enum class TimeUnit : uint8_t { kMicroseconds, kNanoseconds };

/// Counts by powers of two: less than 1 unit, 1 to 2, 2 to 4 …; the last one is open-ended.
struct CallTimes {
  static constexpr size_t kBuckets = 22;
  std::array<uint64_t, kBuckets> counts{};
  uint64_t calls = 0, total_ns = 0, shortest_ns = UINT64_MAX, longest_ns = 0;

  void add(uint64_t duration_ns, TimeUnit unit);
  /// The bucket of a duration.
  [[nodiscard]] static size_t bucket_of(uint64_t duration_ns, TimeUnit unit);
};

struct CallTimesStyle {
  TimeUnit unit = TimeUnit::kMicroseconds;
  bool hide_empty = false;  // buckets without calls
  bool hide_outer = false;  // those below the shortest and above the longest call
};

/// perf's text: a line per bucket, followed by total, average, longest, shortest and count.
void write_call_times(Sink& out, const CallTimes& times, const CallTimesStyle& style);

}  // namespace sonde
