// RunningStats: mean and spread of numbers that come one by one (Welford's method: no sum of
// squares that could cancel).
#pragma once

#include <cmath>
#include <cstdint>

namespace sonde {

class RunningStats {
 public:
  void add(double value) {
    ++count_;
    double from_mean = value - mean_;
    mean_ += from_mean / static_cast<double>(count_);
    squares_ += from_mean * (value - mean_);
  }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// The standard error of the mean; 0 for fewer than two values.
  [[nodiscard]] double error() const {
    if (count_ < 2) return 0;
    auto n = static_cast<double>(count_);
    return std::sqrt(squares_ / (n - 1) / n);
  }
  /// The same as a percentage of the mean; 0 where the mean is.
  [[nodiscard]] double error_percent() const { return mean_ == 0 ? 0 : 100 * error() / mean_; }

 private:
  uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace sonde
