// MeasuredRuns: the result of every single run of one command, metric by metric: its counts and the
// times it took. Kept in memory for a comparison, or on disk as a baseline (baseline.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/counts/counted_event.h"
#include "view/counting.h"

namespace sonde {

struct MeasuredMetric {
  enum class Status : uint8_t { kCounted, kNotCounted, kNotSupported };
  std::string name, unit;
  Status status = Status::kCounted;  // not counted: in at least one run
  bool is_fraction = false;
  bool goes_by_pace = false;   // depends on how slow or busy the machine is: times, switches
  std::vector<double> values;  // one per run
  bool operator==(const MeasuredMetric&) const = default;
};

struct RunTimes {
  uint64_t elapsed_ns = 0, user_ns = 0, system_ns = 0;
};

struct MeasuredRuns {
  std::vector<std::string> command;
  std::vector<MeasuredMetric> metrics;  // the events in order, then elapsed, user and sys
  size_t runs = 0;
  std::vector<double> pace_ns;  // durations of a fixed piece of work, measured alongside the runs:
                                // how fast the machine was at the time
  bool operator==(const MeasuredRuns&) const = default;

  /// `page`: one row per event, from one run.
  void add(const view::CountPage& page, const std::vector<CountedEvent>& events,
           const RunTimes& times);
};

}  // namespace sonde
