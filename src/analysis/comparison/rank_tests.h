// Tests that use only the order of numbers: how probable is this measurement if both sides are the
// same? They assume nothing about the distribution, so one wild run counts as one.
//
//   signed_rank_p({0.1, 0.3, 0.2, 0.4, 0.6, 0.2})   →   1/32: all six pairs differ in one direction
//
// Both are two-sided. They are exact for few values, ties included (every way to assign the signs
// or sides is counted), and use the normal approximation for many.
#pragma once

#include <cstddef>
#include <span>

namespace sonde {

/// On differences within pairs (Wilcoxon). Exact if, without a real difference, the sign of each is
/// a coin toss, as with pairs run in random order, whatever else drifts from pair to pair.
double signed_rank_p(std::span<const double> differences);

/// On two independent sets of runs (Mann and Whitney).
double rank_sum_p(std::span<const double> a, std::span<const double> b);

/// The smallest value either can give for this many pairs or runs: with fewer, nothing can be
/// shown.
double least_signed_rank_p(size_t pairs);
double least_rank_sum_p(size_t a, size_t b);

/// For two sides that never changed and differ: an upper bound on the probability if the counts do
/// change.
double two_constants_p(size_t a, size_t b);

}  // namespace sonde
