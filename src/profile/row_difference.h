// How rows of two recordings differ, by perf's methods, and the resulting order of rows.
//
//   delta        share here − share in the baseline, in percentage points
//   delta-abs    the same; rows sort by absolute value
//   ratio        period here / period in the baseline
//   wdiff:A,B    period here × B − period in the baseline × A
#pragma once

#include <optional>

#include "profile/matched_rows.h"

namespace sonde {

enum class DiffMethod : uint8_t { kDelta, kDeltaAbs, kRatio, kWeighted };

class RowDifference {
 public:
  struct Options {
    DiffMethod method = DiffMethod::kDeltaAbs;
    int64_t baseline_weight = 0, data_weight = 0;  // for wdiff
    size_t sort_side = 1;                          // whose difference decides first; 0: none
  };
  /// `totals`: the total period of each side, the base of its shares.
  RowDifference(const Options& options, std::vector<uint64_t> totals)
      : options_(options), totals_(std::move(totals)) {}

  /// Percent of the side's total; 0 if the total is 0.
  [[nodiscard]] double share(const MatchedRow& row, size_t side) const;
  /// Difference to the baseline; empty if the side lacks the row. For a row that the baseline
  /// lacks, the delta is its whole share; ratio and wdiff are meaningless.
  [[nodiscard]] std::optional<double> of(const MatchedRow& row, size_t side) const;
  [[nodiscard]] int64_t weighted(const MatchedRow& row, size_t side) const;
  [[nodiscard]] bool needs_baseline() const {
    return options_.method == DiffMethod::kRatio || options_.method == DiffMethod::kWeighted;
  }
  /// Largest difference first, then heaviest in the baseline, then by the other sides and the keys.
  void sort(std::vector<MatchedRow>& rows) const;

 private:
  [[nodiscard]] int compare_by(const MatchedRow& a, const MatchedRow& b, size_t side,
                               bool baseline_matters) const;
  [[nodiscard]] int compare(const MatchedRow& a, const MatchedRow& b) const;

  Options options_;
  std::vector<uint64_t> totals_;
};

}  // namespace sonde
