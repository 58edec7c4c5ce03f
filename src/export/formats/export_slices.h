// A tree of stacks as slices on a time line, for formats that only know time: a node begins where
// its preceding sibling ends, a first child where its parent begins, and a node lasts as long as
// the total of its subtree. It looks like an upside-down flame graph.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

class ExportSlices {
 public:
  ExportSlices(const StackProfile& profile, size_t column)
      : scale_(profile.columns[column].unit == "nanoseconds" ? 1 : 1000),
        totals_(totals_of(profile, column)),
        begins_(totals_.size()) {
    std::vector<double> next(totals_.size());  // where the next child would begin
    for (size_t node = 0; node < totals_.size(); ++node) {
      StackNodeId parent = profile.nodes[node].parent;
      double& begin = parent.valid() ? next[parent.index()] : end_;
      begins_[node] = next[node] = begin;
      begin += totals_[node];
    }
  }
  /// Nanoseconds; if the unit is not a time, each unit is a microsecond.
  [[nodiscard]] uint64_t begin_ns(size_t node) const { return to_ns(begins_[node]); }
  [[nodiscard]] uint64_t end_ns(size_t node) const { return to_ns(begins_[node] + totals_[node]); }
  [[nodiscard]] double total(size_t node) const { return totals_[node]; }

 private:
  [[nodiscard]] uint64_t to_ns(double value) const {
    return static_cast<uint64_t>(std::llround(value * scale_));
  }

  double scale_;
  double end_ = 0;
  std::vector<double> totals_;
  std::vector<double> begins_;
};

}  // namespace sonde
