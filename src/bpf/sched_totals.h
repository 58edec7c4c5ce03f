// SchedTotals: what the scheduler does with each thread of the machine, added up by BPF programs in
// the kernel: how long it runs, waits for a CPU and sleeps, and the distribution of its waits for a
// CPU.
//
//   SchedTotals sums = TRY(SchedTotals::open());
//   sums.start();
//   … sums.collect(), from time to time …
//   for (const SchedSum& sum : TRY(sums.stop())) …
//
// The programs stay attached for the lifetime of the object, and disappear with the process. A
// thread without any switch or wakeup has no sums.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

/// A thread, from the start of the measurement (or of the thread, if later) to the end of either.
/// Times are in ns; points in time are CLOCK_MONOTONIC.
struct SchedSum {
  /// Delays of less than 1 us, 2 us, 4 us …; the last bucket is open-ended.
  static constexpr size_t kBuckets = 24;

  uint32_t pid = 0, tid = 0;
  std::string comm;  // the last one it had
  uint64_t first_ns = 0, last_ns = 0;
  uint64_t runtime_ns = 0;  // as the scheduler accounts for it
  // Time by activity; together last_ns - first_ns.
  uint64_t running_ns = 0, runnable_ns = 0, sleeping_ns = 0;
  uint64_t blocked_ns = 0;  // uninterruptible sleep: mostly for disks and locks
  uint64_t delays = 0;      // times that it was given a CPU
  uint64_t delay_ns = 0, longest_ns = 0, longest_end_ns = 0;
  std::array<uint32_t, kBuckets> buckets{};

  friend bool operator==(const SchedSum&, const SchedSum&) = default;
};

class SchedTotals {
 public:
  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<SchedTotals> open();
  SchedTotals(SchedTotals&&) noexcept;
  SchedTotals& operator=(SchedTotals&&) noexcept;
  ~SchedTotals();

  void start();
  /// Collects the sums of threads that have ended, for which the kernel side has room for one
  /// megabyte.
  void collect();
  /// Ends the measurement; returns each thread once, ordered by their last moment.
  Result<std::vector<SchedSum>> stop();

  /// Threads whose sums are missing because there was no room.
  [[nodiscard]] uint64_t lost_threads() const;
  /// Switches and wakeups that are missing because there was no memory for their thread.
  [[nodiscard]] uint64_t lost_events() const;

 private:
  struct State;
  explicit SchedTotals(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
