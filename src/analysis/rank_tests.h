// Tests that ask only for the order of numbers: how probable is what was measured, if both sides
// were the same? Nothing is assumed of their distribution, so one wild run counts as one.
//
//   signed_rank_p({0.1, 0.3, 0.2, 0.4, 0.6, 0.2})   →   1/32: all six pairs differ in one direction
//
// Both are two-sided. They are exact for few values, ties included (every way to deal out the signs
// or sides is counted), and go by the normal distribution for many.
#pragma once

#include <cstddef>
#include <span>

namespace sonde {

/// Of differences within pairs (Wilcoxon). Exact where the sign of each is a coin toss if nothing
/// differs, as with pairs whose order is tossed, whatever else drifts from pair to pair.
double signed_rank_p(std::span<const double> differences);

/// Of two sets of runs that have nothing to do with each other (Mann and Whitney).
double rank_sum_p(std::span<const double> a, std::span<const double> b);

/// The least that either can give, for so many pairs or runs: fewer cannot show a thing.
double least_signed_rank_p(size_t pairs);
double least_rank_sum_p(size_t a, size_t b);

/// Two sides that never changed and differ: at most this probable for counts that do change.
double two_constants_p(size_t a, size_t b);

}  // namespace sonde
