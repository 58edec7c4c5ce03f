// How far a sampled share may be from the true one.
//
// A function with 12 of 400 samples need not take 3 % of the time. Shares are like votes in a poll,
// so their interval is that of a proportion: the score interval (Wilson 1927), the true shares from
// which the observed one is no more than z deviations away. Unlike share ± z deviations it stays
// within 0 and 1, and it is not empty where no sample, or every sample, was of the function.
//
// Samples of different weight (adaptive periods) carry less information than their number: n of
// them count as (Σ period)² / Σ period² (Kish's effective size).
#pragma once

namespace sonde {

/// A recording's samples as a poll.
struct SampledTotal {
  double weight = 0;   // sum of the samples' periods
  double squares = 0;  // sum of their squares
  /// The number of independent samples of equal weight that would carry as much information.
  [[nodiscard]] double effective() const { return squares == 0 ? 0 : weight * weight / squares; }
};

struct ShareInterval {
  double low = 0, high = 0;
  [[nodiscard]] bool leaves_out_zero() const { return low > 0 || high < 0; }
};

/// The deviations of a normal distribution that `error` of it is beyond, on both sides together.
[[nodiscard]] double deviations_beyond(double error);
/// deviations_beyond(0.05).
inline constexpr double kUsualDeviations = 1.959963984540054;

/// Of a share of `effective` samples, as fractions of 1; all of 0 to 1 if there are none. A share
/// beyond 1 counts as 1.
[[nodiscard]] ShareInterval share_interval(double share, double effective,
                                           double deviations = kUsualDeviations);

}  // namespace sonde
