// HistogramSet: the histograms of one measurement, one per key, as plain data for its views.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "histogram/buckets.h"

namespace sonde {

struct Histogram {
  std::string key;                           // its text; empty if there is only one histogram
  std::map<int32_t, uint64_t> buckets = {};  // events by BucketScale's number
  uint64_t count = 0;
  uint64_t sum = 0;  // of the values; modulo 2^64

  void add(int32_t bucket, uint64_t events, uint64_t sum_of_values) {
    buckets[bucket] += events;
    count += events;
    sum += sum_of_values;
  }
  /// The bucket that the value is in which `share` of the events do not exceed. `count` is not 0.
  [[nodiscard]] int32_t percentile(double share) const;
};

struct HistogramSet {
  std::string title;       // "ret of syscalls:sys_exit_read"
  std::string value_name;  // "ret"; "time"
  std::string key_name;    // "comm"; empty: there is no key
  BucketScale scale;
  bool are_times = false;                  // values are ns
  bool is_signed = false;                  // the values, and so their sums
  double seconds = 0;                      // that were measured; 0: of a recording
  std::vector<Histogram> histograms = {};  // most events first
  std::vector<std::string> remarks =
      {};  // what is not in the histograms: "3 begins without an end"

  [[nodiscard]] uint64_t events() const;
  /// Of one of the histograms; 0 if it is empty.
  [[nodiscard]] double mean(const Histogram& histogram) const;
  /// Sorts the histograms.
  void sort();
};

/// What `now` has more than `before`, an earlier state of the same.
[[nodiscard]] HistogramSet difference(const HistogramSet& now, const HistogramSet& before);

}  // namespace sonde
