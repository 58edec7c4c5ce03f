#include "analysis/comparison/share_difference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {

ShareInterval share_difference(double before, double effective_before, double after,
                               double effective_after, double error) {
  double deviations = deviations_beyond(error);
  ShareInterval a = share_interval(before, effective_before, deviations);
  ShareInterval b = share_interval(after, effective_after, deviations);
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
