// Whether a difference between two sampled shares is significant.
//
// A function with 12 of 400 samples here and 20 of 380 there may not have changed at all. Each
// share has its interval (share_interval.h), and the interval of the difference combines the two
// (Newcombe 1998, his method 10), which also holds for shares near 0.
//
// Many rows are many chances to be wrong. Intervals are therefore taken at 5 % divided by the
// number of rows that could show a difference at all (Bonferroni, without the rows that have too
// few samples for any claim: Tarone 1990), so that all of them hold together in 95 of 100
// comparisons.
#pragma once

#include <span>

#include "analysis/sampling/share_interval.h"

namespace sonde {

/// Of after − before, as fractions of 1. `error` is how often it may miss the truth (0.05).
[[nodiscard]] ShareInterval share_difference(double before, double effective_before, double after,
                                             double effective_after, double error);

/// Whether this many samples, on both sides together, could show a difference at this error: not if
/// even all of them on one side would be likely enough by chance.
[[nodiscard]] bool can_show_difference(double samples, double effective_before,
                                       double effective_after, double error);

/// The error for each row, such that at most `error` of all comparisons have a wrong row. `samples`
/// are the rows' (effective) samples, of both sides together.
[[nodiscard]] double error_per_row(std::span<const double> samples, double effective_before,
                                   double effective_after, double error);

}  // namespace sonde
