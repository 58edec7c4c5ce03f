// MeasuredRuns: what every single run of one command came to, metric by metric: its counts and the
// times that it took. Kept in memory for a comparison, or on disk as a baseline (baseline.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/counted_event.h"
#include "view/counting.h"

namespace sonde {

struct MeasuredMetric {
  enum class Status : uint8_t { kCounted, kNotCounted, kNotSupported };
  std::string name, unit;
  Status status = Status::kCounted;  // not counted: in at least one run
  bool is_fraction = false;
  bool goes_by_pace = false;   // a slower or busier machine shows in it: times, switches
  std::vector<double> values;  // a run each
  bool operator==(const MeasuredMetric&) const = default;
};

struct RunTimes {
  uint64_t elapsed_ns = 0, user_ns = 0, system_ns = 0;
};

struct MeasuredRuns {
  std::vector<std::string> command;
  std::vector<MeasuredMetric> metrics;  // the events in order, then elapsed, user and sys
  size_t runs = 0;
  std::vector<double> pace_ns;  // of work that is always the same, beside the runs: how fast the
                                // machine was meanwhile
  bool operator==(const MeasuredRuns&) const = default;

  /// `page`: one row for each event, of one run.
  void add(const view::CountPage& page, const std::vector<CountedEvent>& events,
           const RunTimes& times);
};

}  // namespace sonde
