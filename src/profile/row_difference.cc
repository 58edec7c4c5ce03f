#include "profile/row_difference.h"

#include <algorithm>
#include <cmath>

namespace sonde {

double RowDifference::share(const MatchedRow& row, size_t side) const {
  uint64_t total = totals_[side];
  return total == 0
             ? 0
             : static_cast<double>(row.cells[side].period) * 100.0 / static_cast<double>(total);
}

int64_t RowDifference::weighted(const MatchedRow& row, size_t side) const {
  auto here = static_cast<int64_t>(row.cells[side].period);
  auto before = static_cast<int64_t>(row.cells[0].period);
  int64_t up = 0, down = 0, sum = 0;
  // The weights are user input: results that overflow are clamped to the maximum.
  if (__builtin_mul_overflow(here, options_.data_weight, &up) ||
      __builtin_mul_overflow(before, options_.baseline_weight, &down) ||
      __builtin_sub_overflow(up, down, &sum))
    return INT64_MAX;
  return sum;
}

std::optional<double> RowDifference::of(const MatchedRow& row, size_t side) const {
  if (!row.cells[side].present) return std::nullopt;
  switch (options_.method) {
    case DiffMethod::kDelta:
    case DiffMethod::kDeltaAbs:
      return share(row, side) - share(row, 0);
    case DiffMethod::kRatio:
      return static_cast<double>(row.cells[side].period) /
             static_cast<double>(std::max<uint64_t>(row.cells[0].period, 1));
    case DiffMethod::kWeighted:
      return static_cast<double>(weighted(row, side));
  }
  return std::nullopt;
}

/// Rows that the side lacks sort last.
int RowDifference::compare_by(const MatchedRow& a, const MatchedRow& b, size_t side,
                              bool baseline_matters) const {
  auto left = of(a, side), right = of(b, side);
  if (left.has_value() != right.has_value()) return left ? -1 : 1;
  if (!left) return 0;
  if (baseline_matters && a.is_in_baseline() != b.is_in_baseline())
    return a.is_in_baseline() ? -1 : 1;
  if (baseline_matters && !a.is_in_baseline()) return 0;
  if (options_.method == DiffMethod::kWeighted)
    return three_way(weighted(b, side), weighted(a, side));
  if (options_.method == DiffMethod::kDeltaAbs) return three_way(std::abs(*right), std::abs(*left));
  return three_way(*right, *left);
}

int RowDifference::compare(const MatchedRow& a, const MatchedRow& b) const {
  if (options_.sort_side != 0)
    if (int order = compare_by(a, b, options_.sort_side, needs_baseline()); order != 0)
      return order;
  if (int order = three_way(b.cells[0].period, a.cells[0].period); order != 0) return order;
  if (a.is_in_others() != b.is_in_others()) return a.is_in_others() ? -1 : 1;
  for (size_t side = 1; side < totals_.size(); ++side)
    if (int order = compare_by(a, b, side, false); order != 0) return order;
  for (size_t i = 0; i < a.identity.size(); ++i)
    if (int order = compare_identities(a.identity[i], b.identity[i]); order != 0) return order;
  return 0;
}

void RowDifference::sort(std::vector<MatchedRow>& rows) const {
  std::ranges::stable_sort(
      rows, [&](const MatchedRow& a, const MatchedRow& b) { return compare(a, b) < 0; });
}

}  // namespace sonde
