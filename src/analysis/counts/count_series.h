// CountSeries: the counts of consecutive runs, scaled for multiplexing, added up per unit, and
// turned into a page with metrics.
//
//   CountSeries series(events, units, settings);
//   for each run: series.add(readings, elapsed_ns);
//   view::CountPage page = series.page();        // means over the runs
//
// Scaling follows perf: for the whole machine the sum is scaled by the sums of the times; for
// anything smaller each counter is scaled by its own times.
#pragma once

#include <vector>

#include "analysis/counts/count_units.h"
#include "analysis/counts/counted_event.h"
#include "analysis/counts/metrics.h"
#include "base/running_stats.h"
#include "capture/counters/counter_reading.h"
#include "view/counting.h"

namespace sonde {

struct CountSettings {
  bool scale = true;                 // --no-scale: numbers as the hardware gave them
  bool merge_aliases = true;         // --no-merge: one row per PMU that an event was found on
  bool merge_core_kinds = false;     // --hybrid-merge
  bool percore_show_thread = false;  // --percore-show-thread
  bool skip_idle_threads = false;    // no rows of zero, if threads of the whole machine are shown
  MetricSelection metrics = {};
};

class CountSeries {
 public:
  /// `cores`: for events with the term percore; `places`: for counters shared by a package.
  CountSeries(std::vector<CountedEvent> events, CountUnits units, CountUnits cores,
              const CpuLocations& places, CountSettings settings);

  /// One run, or the increments of one interval. "CPUs utilized" is relative to `elapsed_ns`.
  void add(const std::vector<EventReadings>& readings, uint64_t elapsed_ns);
  void clear();

  [[nodiscard]] view::CountPage page() const;
  [[nodiscard]] const std::vector<CountedEvent>& events() const { return events_; }

 private:
  struct Sum {
    double value = 0;
    uint64_t enabled_ns = 0, running_ns = 0;
    uint32_t cpus = 0;
    bool incomplete = false;
  };
  struct Cell {  // one event in one unit, over the runs
    RunningStats value, enabled, running;
    std::vector<double> runs;
    uint32_t cpus = 0;
  };
  struct Row {
    std::vector<Cell> cells;
    bool supported = true;
  };

  [[nodiscard]] const CountUnits& units_of(size_t event) const;
  [[nodiscard]] std::vector<Sum> sums_of(size_t event, const EventReadings& readings) const;
  [[nodiscard]] std::vector<Sum> total_of(const EventReadings& readings, bool per_package) const;
  [[nodiscard]] std::vector<size_t> shown_as() const;
  [[nodiscard]] std::vector<MetricInputs> metric_inputs() const;
  [[nodiscard]] view::CountRow row(size_t event, size_t unit,
                                   const std::vector<MetricInputs>& inputs) const;
  void add_rows_of_event(size_t event, const std::vector<MetricInputs>& inputs,
                         view::CountPage& page) const;
  void add_rows_by_unit(const std::vector<MetricInputs>& inputs, view::CountPage& page) const;
  [[nodiscard]] bool is_shown(size_t event, size_t unit) const;

  std::vector<CountedEvent> events_;
  CountUnits units_, cores_;
  CpuLocations places_;
  CountSettings settings_;
  std::vector<size_t> shown_as_;  // the event whose row an event's counts go to
  std::vector<Row> rows_;
  RunningStats elapsed_ns_;
};

/// The differences between successive readings, for intervals.
class CountDeltas {
 public:
  std::vector<EventReadings> take(const std::vector<EventReadings>& now,
                                  const std::vector<CountedEvent>& events);

 private:
  std::vector<EventReadings> before_;
};

}  // namespace sonde
