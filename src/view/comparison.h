// Two commands side by side, as plain data: what `stat --vs` and `stat --compare` show, whatever
// writes it (text, JSON, Markdown).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::view {

/// One side: a command that was run now, or a file of runs from before.
struct ComparedSide {
  std::string title;  // "'make -s'", "baseline.json"
  std::vector<std::string> command;
  size_t runs = 0;
};

/// Of a change: B / A, or B − A where A may be nothing.
struct Change {
  bool is_ratio = true;
  double value = 1;
  double low = 1, high = 1;
  double noise = 0;  // how far A is from itself: a share, or a difference
};

struct ComparedMetric {
  enum class Status : uint8_t { kCompared, kNotCounted, kNotSupported };
  enum class Verdict : uint8_t { kNoDifference, kBetter, kWorse, kTooFewRuns };
  std::string name, unit;
  bool is_fraction = false;  // shown with decimals
  Status status = Status::kCompared;
  std::vector<double> a, b;  // of every run
  double median_a = 0, median_b = 0;
  Change change;
  double p_value = 1;
  Verdict verdict = Verdict::kNoDifference;
};

/// One limit of --gate.
struct ComparedGate {
  enum class Outcome : uint8_t {
    kPassed,
    kExceeded,
    kNotShown,    // the median is beyond the limit, but the runs don't show that it is no chance
    kTooFewRuns,  // the same, and so few runs could not show it
  };
  std::string limit;   // "task-clock>2%"
  std::string metric;  // "task-clock"
  Outcome outcome = Outcome::kPassed;
};

struct Comparison {
  ComparedSide a, b;
  bool in_turn = true;       // false: A comes from a file
  double confidence = 0.95;  // of all intervals and verdicts together
  std::vector<ComparedMetric> metrics;
  std::vector<ComparedGate> gates;
  std::vector<std::string> notes;  // what makes it less certain
};

}  // namespace sonde::view
