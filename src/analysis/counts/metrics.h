// Metrics: instructions per cycle, miss rates, GHz and the like, computed whenever their counts are
// available. metrics.def has one line for each; nothing else knows any of them by name.
//
//   MetricInputs inputs;                        // for one unit: a CPU, a core, the whole machine
//   inputs.add(cycles, 2.5e9); inputs.add(instructions, 5e9);
//   metrics_of(instructions, 5e9, inputs, {})   →   "2.00 insn per cycle"
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/counts/counted_event.h"
#include "analysis/counts/formula.h"
#include "base/running_stats.h"
#include "view/counting.h"

namespace sonde {

/// The counts of one unit that metrics may use. Counts of events that exclude different modes, or
/// belong to different cgroups, don't mix; only the clock is shared by all modes.
class MetricInputs {
 public:
  /// `count`: as the kernel gave it, nanoseconds for clocks; 0 for what could not be counted.
  void add(const CountedEvent& event, double count);
  void set_elapsed_ns(double elapsed_ns) { elapsed_ns_ = elapsed_ns; }

 private:
  friend class MetricTable;
  struct Slot {
    size_t input;
    uint8_t excluded;
    std::string cgroup;
    RunningStats counts;
  };
  struct NamedSlot {  // for formulas, which know events by name
    std::string name, cgroup;
    RunningStats counts;
  };
  std::vector<Slot> slots_;
  std::vector<NamedSlot> named_;
  double elapsed_ns_ = 0;
};

/// A metric that is not of metrics.def: a formula over counts of events that are known by name.
struct CountFormula {
  /// What a name in the formula means: an event's count, or a number.
  struct Operand {
    std::string event = {};     // as given to -e; empty: a number, which is
    double constant = 0;        // this,
    double per_elapsed_ns = 0;  // plus this for each nanosecond of the measurement
    [[nodiscard]] bool is_event() const { return !event.empty(); }
  };
  std::string name;
  std::string unit;  // may be empty; "percent"
  Formula formula;
  std::vector<Operand> operands = {};  // one for each of formula.names()
};

/// Which metrics are wanted: all whose counts are available, or some by name (-M).
struct MetricSelection {
  std::vector<std::string> names;           // empty: all
  std::vector<CountFormula> formulas = {};  // shown beside the first event of each
  [[nodiscard]] bool wants(std::string_view name) const;
};

/// What is shown beside an event whose count is `count`.
std::vector<view::CountMetric> metrics_of(const CountedEvent& event, double count,
                                          const MetricInputs& inputs,
                                          const MetricSelection& choice);

/// For -M and lists of metrics.
struct MetricInfo {
  std::string_view name, unit, expression;
  std::vector<std::string> events;  // the events it needs, as -e accepts them
};
const std::vector<MetricInfo>& all_metrics();
/// Ignores case; nullptr if there is none.
const MetricInfo* find_metric(std::string_view name);

}  // namespace sonde
