// How often a call was made and how long it took, for the tables of `trace -s`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/running_stats.h"

namespace sonde {

/// Durations in nanoseconds.
class CallStats {
 public:
  void add(uint64_t duration_ns, int64_t result, bool keep_errno) {
    durations_.add(static_cast<double>(duration_ns));
    min_ns_ = std::min(min_ns_, duration_ns);
    max_ns_ = std::max(max_ns_, duration_ns);
    if (result >= 0) return;
    ++errors_;
    if (keep_errno) ++by_errno_[static_cast<int>(-result)];
  }
  /// Adds what the kernel summed up; `squares` is the sum of the squared durations.
  void add(uint64_t calls, uint64_t errors, uint64_t total_ns, uint64_t min_ns, uint64_t max_ns,
           double squares) {
    if (calls == 0) return;
    double mean = static_cast<double>(total_ns) / static_cast<double>(calls);
    durations_.add_group(calls, mean,
                         std::max(0.0, squares - static_cast<double>(total_ns) * mean));
    errors_ += errors;
    min_ns_ = std::min(min_ns_, min_ns);
    max_ns_ = std::max(max_ns_, max_ns);
  }
  void add_errno(int number, uint64_t count) { by_errno_[number] += count; }
  void add(const CallStats& other) {
    durations_.add_group(other.durations_);
    errors_ += other.errors_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
    for (auto [number, count] : other.by_errno_) by_errno_[number] += count;
  }

  [[nodiscard]] uint64_t calls() const { return durations_.count(); }
  [[nodiscard]] uint64_t errors() const { return errors_; }
  [[nodiscard]] double mean_ns() const { return durations_.mean(); }
  [[nodiscard]] uint64_t min_ns() const { return min_ns_; }
  [[nodiscard]] uint64_t max_ns() const { return max_ns_; }
  /// The standard error of the mean, in per cent of the mean; 0 for a single call.
  [[nodiscard]] double deviation_percent() const { return durations_.error_percent(); }
  /// Errors by number, if they were kept.
  [[nodiscard]] const std::map<int, uint64_t>& by_errno() const { return by_errno_; }

 private:
  RunningStats durations_;
  uint64_t errors_ = 0;
  uint64_t min_ns_ = UINT64_MAX, max_ns_ = 0;
  std::map<int, uint64_t> by_errno_;
};

}  // namespace sonde
