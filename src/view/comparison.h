// Two commands side by side, as plain data: what `stat --vs` and `stat --compare` show, in whatever
// output format (text, JSON, Markdown).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::view {

/// One side: a command that was run now, or a file of earlier runs.
struct ComparedSide {
  std::string title;  // "'make -s'", "baseline.json"
  std::vector<std::string> command;
  size_t runs = 0;
};

/// A change: B / A, or B − A if A may be zero.
struct Change {
  bool is_ratio = true;
  double value = 1;
  double low = 1, high = 1;
  double noise = 0;  // how far A is from itself: a ratio or a difference
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
    kNotShown,    // the median exceeds the limit, but the runs don't show that it is not chance
    kTooFewRuns,  // the same, with too few runs to show it
  };
  std::string limit;   // "task-clock>2%"
  std::string metric;  // "task-clock"
  Outcome outcome = Outcome::kPassed;
};

struct Comparison {
  ComparedSide a, b;
  bool in_turn = true;       // false: A was read from a file
  double confidence = 0.95;  // of all intervals and verdicts together
  std::vector<ComparedMetric> metrics;
  std::vector<ComparedGate> gates;
  std::vector<std::string> notes;  // what makes the result less certain
};

}  // namespace sonde::view
