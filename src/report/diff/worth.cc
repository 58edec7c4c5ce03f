#include "report/diff/worth.h"

namespace sonde::diff {
namespace {

constexpr double kError = 0.05;  // of all intervals and verdicts of a table together

double part_of(uint64_t period, uint64_t total) {
  return total == 0 ? 0 : static_cast<double>(period) / static_cast<double>(total);
}

}  // namespace

RowWorth::RowWorth(const std::vector<MatchedRow>& rows, std::pair<uint64_t, uint64_t> totals,
                   std::pair<SampledTotal, SampledTotal> sampled, size_t side)
    : totals_(totals),
      effective_before_(sampled.first.effective()),
      effective_after_(sampled.second.effective()),
      side_(side) {
  std::vector<double> counts;
  for (const MatchedRow& row : rows)
    if (!row.hidden) counts.push_back(samples(row));
  error_ = error_per_row(counts, effective_before_, effective_after_, kError);
}

double RowWorth::before(const MatchedRow& row) const {
  return part_of(row.cells[0].period, totals_.first);
}
double RowWorth::after(const MatchedRow& row) const {
  return part_of(row.cells[side_].period, totals_.second);
}
double RowWorth::samples(const MatchedRow& row) const {
  return before(row) * effective_before_ + after(row) * effective_after_;
}

ShareInterval RowWorth::interval(const MatchedRow& row) const {
  return share_difference(before(row), effective_before_, after(row), effective_after_, error_);
}

std::string_view RowWorth::verdict(const MatchedRow& row) const {
  if (!interval(row).leaves_out_zero())
    return can_show_difference(samples(row), effective_before_, effective_after_, error_) ? "noise"
                                                                                          : "few";
  if (!row.is_in_baseline()) return "came";
  if (!row.cells[side_].present) return "went";
  return after(row) > before(row) ? "more" : "less";
}

}  // namespace sonde::diff
