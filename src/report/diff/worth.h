// The significance of the differences between the baseline and one other recording: an interval and
// a verdict for each row. All of them hold simultaneously at 95 %
// (analysis/comparison/share_difference.h).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/comparison/share_difference.h"
#include "profile/matched_rows.h"

namespace sonde::diff {

class RowWorth {
 public:
  /// For side `side` of `rows`. `totals` are the periods that shares are relative to, `sampled` the
  /// samples behind them: of the baseline and of the other recording.
  RowWorth(const std::vector<MatchedRow>& rows, std::pair<uint64_t, uint64_t> totals,
           std::pair<SampledTotal, SampledTotal> sampled, size_t side);

  /// In fractions of 1.
  [[nodiscard]] ShareInterval interval(const MatchedRow& row) const;
  /// more, less, came, went; noise; few: too few samples for any numbers to have shown more.
  [[nodiscard]] std::string_view verdict(const MatchedRow& row) const;

 private:
  [[nodiscard]] double before(const MatchedRow& row) const;
  [[nodiscard]] double after(const MatchedRow& row) const;
  [[nodiscard]] double samples(const MatchedRow& row) const;

  std::pair<uint64_t, uint64_t> totals_;
  double effective_before_, effective_after_;
  size_t side_;
  double error_;
};

}  // namespace sonde::diff
