#include "analysis/sampling/share_interval.h"

#include <algorithm>
#include <cmath>

namespace sonde {
double deviations_beyond(double error) {
  double low = 0, high = 40;  // bisection of erfc
  for (int i = 0; i < 80; ++i) {
    double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > error ? low : high) = middle;
  }
  return low;
}

ShareInterval share_interval(double share, double effective, double deviations) {
  if (effective <= 0) return {0, 1};
  share = std::clamp(share, 0.0, 1.0);
  double z = deviations, z2 = z * z, n = effective;
  double middle = share + z2 / (2 * n);
  double half = z * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  double scale = 1 + z2 / n;
  // Rounding must not leave the ends beyond the share itself.
  return {std::clamp((middle - half) / scale, 0.0, share),
          std::clamp((middle + half) / scale, share, 1.0)};
}

}  // namespace sonde
