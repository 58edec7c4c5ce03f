// What the branches at one step of a call tree sum to (report --branch-history).
#pragma once

#include <string>

#include "replay/frames/branch_path.h"

namespace sonde {

struct BranchCounts {
  uint64_t branches = 0;  // none: the step only has calls
  uint64_t predicted = 0, aborted = 0;
  uint64_t cycles = 0, iterations = 0, iteration_cycles = 0;
  uint64_t later_sources = 0;  // steps that are sources, without the step's first
  uint32_t types = 0;          // a bit for each type that was recorded
  bool forward = false, backward = false, crosses_4k = false, crosses_2m = false;
  bool is_target = false;  // the last branch ended here; otherwise it began here
  bool has_steps = false;

  /// Must be called in time order.
  void add(const PathStep& step);
};

/// Appends " (predicted:50.0% abort:1.2%)", " (cycles:3 iter:2 avg_cycles:26)", " (calltrace)", or
/// nothing, as perf does.
void append_counts(const BranchCounts& counts, std::string& out);

}  // namespace sonde
