// Counts as plain data: what `stat` shows, in whatever output format (text, CSV, JSON).
//
// A page is one set of counts: of a whole measurement, or of one interval (-I). Each row has an
// event and a unit: the machine, or the CPU, core, socket, thread … over which counts were summed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::view {

enum class CountGrouping : uint8_t {
  kAll,
  kCpu,
  kThread,
  kCore,
  kCluster,
  kDie,
  kSocket,
  kNode,
  kCache
};

/// A row's unit: "S0-D0-C" + "1". The last number is separate because text pads it.
struct CountUnit {
  CountGrouping grouping = CountGrouping::kAll;
  std::string head, tail;  // for a thread: its name and its id
};

struct CountEvent {
  std::string name, unit, cgroup;
  bool is_fraction = false;  // scaled: shown with decimals
};

/// A value computed from counts.
struct CountMetric {
  enum class Level : uint8_t { kPlain, kNotable, kHigh, kVeryHigh };
  std::string name;             // stable, for programs: "insn_per_cycle"
  std::optional<double> value;  // empty if a count that it needs is missing
  std::string format;           // printf format of the shown value: "%7.2f%%"
  std::string unit;             // "of all branches"
  std::string title;            // as a column title: "branch-misses of all branches"
  double divisor = 1;           // large rates are shown in multiples of this, with
  std::string prefix = {};      // "K", "M" or "G" before the unit
  Level level = Level::kPlain;
  bool is_column = true;  // shown by --metric-only

  [[nodiscard]] double shown_value() const { return value.value_or(0) / divisor; }
  [[nodiscard]] std::string shown_unit() const { return prefix + unit; }
};

struct CountRow {
  enum class Status : uint8_t { kCounted, kNotCounted, kNotSupported };
  uint32_t event = 0;  // into CountPage::events
  uint32_t unit = 0;   // into CountPage::units
  Status status = Status::kCounted;
  double value = 0;  // scaled to the event's unit
  uint64_t enabled_ns = 0, running_ns = 0;
  uint32_t cpus = 0;         // number of CPUs summed
  double error_percent = 0;  // of the mean, over several runs
  std::vector<double> runs;  // the values of the individual runs
  std::vector<CountMetric> metrics;

  [[nodiscard]] double running_percent() const {
    return enabled_ns == 0
               ? 100
               : 100 * static_cast<double>(running_ns) / static_cast<double>(enabled_ns);
  }
};

struct CountPage {
  std::optional<uint64_t> time_ns;  // an interval's end, since the start
  bool is_summary = false;          // of all intervals (--summary)
  CountGrouping grouping = CountGrouping::kAll;
  std::vector<CountEvent> events;
  std::vector<CountUnit> units;
  std::vector<CountRow> rows;  // in display order
};

/// What was measured, and for how long.
struct CountSummary {
  std::string title;                 // "'ls -l'", "process id '12'", "'system wide'"
  std::vector<std::string> command;  // empty: none
  uint64_t runs = 1;                 // requested with -r; 0: endless
  std::vector<double> elapsed_s;     // of every run
  double mean_s = 0, error_s = 0;
  struct Cpu {
    double user_s, system_s;
  };
  std::optional<Cpu> cpu;  // of the command, if only it was measured, once
};

}  // namespace sonde::view
