// RunningStats: streaming mean and variance (Welford's method: no sum of squares that could
// cancel).
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
  /// Adds values that were accumulated elsewhere: their count, mean, and sum of squared distances
  /// from it.
  void add_group(uint64_t count, double mean, double squares) {
    if (count == 0) return;
    auto more = static_cast<double>(count), before = static_cast<double>(count_);
    double from_mean = mean - mean_, share = more / (more + before);
    squares_ += squares + from_mean * from_mean * before * share;
    mean_ += from_mean * share;
    count_ += count;
  }
  void add_group(const RunningStats& other) {
    add_group(other.count_, other.mean_, other.squares_);
  }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// The standard error of the mean; 0 for fewer than two values.
  [[nodiscard]] double error() const {
    if (count_ < 2) return 0;
    auto n = static_cast<double>(count_);
    return std::sqrt(squares_ / (n - 1) / n);
  }
  /// The same as a percentage of the mean; 0 if the mean is 0.
  [[nodiscard]] double error_percent() const { return mean_ == 0 ? 0 : 100 * error() / mean_; }

 private:
  uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace sonde
