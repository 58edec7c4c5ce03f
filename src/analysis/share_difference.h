// What a difference between two sampled shares is worth.
//
// A function that has 12 of 400 samples here and 20 of 380 there may not have changed at all. A
// share is counted like votes in a poll, so the interval of the difference is that of two
// proportions: each share has its score interval (Wilson 1927), and the difference has what both
// together allow (Newcombe 1998, his method 10), which holds for shares near 0 too.
//
// Samples that stand for different amounts (adaptive periods) carry less than their number: n of
// them count as (Σ period)² / Σ period² (Kish's effective size).
//
// Many rows are many chances to be wrong. Intervals are therefore taken at 5 % divided by the
// number of rows that could show a difference at all (Bonferroni, without the rows that are too few
// samples for any claim: Tarone 1990), so that they all hold together in 95 of 100 comparisons.
#pragma once

#include <cstdint>
#include <span>

namespace sonde {

/// A recording's samples as a poll.
struct SampledTotal {
  double weight = 0;   // sum of the samples' periods
  double squares = 0;  // sum of their squares
  /// Independent samples of equal weight that would say as much.
  [[nodiscard]] double effective() const { return squares == 0 ? 0 : weight * weight / squares; }
};

struct ShareInterval {
  double low = 0, high = 0;
  [[nodiscard]] bool leaves_out_zero() const { return low > 0 || high < 0; }
};

/// Of after − before, as parts of 1. `error` is how often it may miss the truth (0.05).
[[nodiscard]] ShareInterval share_difference(double before, double effective_before, double after,
                                             double effective_after, double error);

/// Whether so many samples, on both sides together, could show a difference at this error: not if
/// even all of them on one side would be likely enough by chance.
[[nodiscard]] bool can_show_difference(double samples, double effective_before,
                                       double effective_after, double error);

/// The error of each row, so that all together are wrong in at most `error` of comparisons.
/// `samples` are the rows' (effective) samples, of both sides together.
[[nodiscard]] double error_per_row(std::span<const double> samples, double effective_before,
                                   double effective_after, double error);

}  // namespace sonde
