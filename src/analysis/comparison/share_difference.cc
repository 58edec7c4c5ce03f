#include "analysis/comparison/share_difference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {
namespace {

/// How many deviations above the mean of a normal distribution `tail` of it begins: bisection of
/// erfc.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 80; ++i) {
    double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > tail ? low : high) = middle;
  }
  return low;
}

/// The true shares that are consistent with an observed `share` of n samples.
ShareInterval score_interval(double share, double n, double z) {
  if (n <= 0) return {0, 1};
  double z2 = z * z;
  double middle = share + z2 / (2 * n);
  double half = z * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  double scale = 1 + z2 / n;
  return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

}  // namespace

ShareInterval share_difference(double before, double effective_before, double after,
                               double effective_after, double error) {
  double z = normal_quantile(error / 2);
  ShareInterval a = score_interval(before, effective_before, z);
  ShareInterval b = score_interval(after, effective_after, z);
  double difference = after - before;
  return {difference - std::hypot(after - b.low, a.high - before),
          difference + std::hypot(b.high - after, before - a.low)};
}

bool can_show_difference(double samples, double effective_before, double effective_after,
                         double error) {
  double both = effective_before + effective_after;
  if (both <= 0) return false;
  // The rarest outcome is all of them on the side with fewer samples.
  double rarest = std::min(effective_before, effective_after) / both;
  return rarest > 0 && samples * std::log(rarest) + std::log(2.0) <= std::log(error);
}

double error_per_row(std::span<const double> samples, double effective_before,
                     double effective_after, double error) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted, std::greater());
  // The fewest rows m such that no more than m can show anything at error / m.
  for (size_t m = 1; m <= sorted.size(); ++m) {
    double each = error / static_cast<double>(m);
    if (m == sorted.size() ||
        !can_show_difference(sorted[m], effective_before, effective_after, each))
      return each;
  }
  return error;
}

}  // namespace sonde
