// The distribution of call times: the histogram and the totals of `ftrace latency`.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/sink.h"

namespace sonde {

enum class TimeUnit : uint8_t { kMicroseconds, kNanoseconds };

/// How durations are divided into buckets: by powers of two (less than 1 unit, 1 to 2, 2 to 4 …),
/// or, with a `range`, `range` units each, with one bucket for what is shorter than `from` and one
/// for what takes `to` or longer. The last one is open-ended.
struct CallBuckets {
  static constexpr size_t kMost = 22;
  TimeUnit unit = TimeUnit::kMicroseconds;
  uint64_t range = 0, from = 0, to = 0;  // units; `to` 0: as many buckets as there can be

  /// Fills in `to`. kUsage: the limits contradict each other, or need too many buckets.
  Result<> settle();
  [[nodiscard]] size_t count() const;
  /// The bucket of a duration.
  [[nodiscard]] size_t of(uint64_t duration_ns) const;
};

struct CallTimes {
  static constexpr size_t kBuckets = CallBuckets::kMost;
  std::array<uint64_t, kBuckets> counts{};
  uint64_t calls = 0, total_ns = 0, shortest_ns = UINT64_MAX, longest_ns = 0;

  void add(uint64_t duration_ns, const CallBuckets& buckets);
};

struct CallTimesStyle {
  CallBuckets buckets = {};
  bool hide_empty = false;  // buckets without calls
  bool hide_outer = false;  // those below the shortest and above the longest call
};

/// perf's text: a line per bucket, followed by total, average, longest, shortest and count.
void write_call_times(Sink& out, const CallTimes& times, const CallTimesStyle& style);

}  // namespace sonde
