// A tree of stacks as slices of a time line, for formats that know nothing but time: a node begins
// where its elder sibling ends, the first where its parent begins, and lasts as long as what fell
// on it and on all below. It looks like a flame graph that stands on its head.
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
    std::vector<double> next(totals_.size());  // where a child would begin
    for (size_t node = 0; node < totals_.size(); ++node) {
      StackNodeId parent = profile.nodes[node].parent;
      double& begin = parent.valid() ? next[parent.index()] : end_;
      begins_[node] = next[node] = begin;
      begin += totals_[node];
    }
  }
  /// Nanoseconds; of what is no time, each unit is a microsecond.
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
