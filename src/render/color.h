// Terminal colours of percentages, as perf paints them: red from 5 %, green above 0.5 %.
#pragma once

#include "base/sink.h"

namespace sonde::render {

inline constexpr Escape kRed{"\033[31m"};
inline constexpr Escape kGreen{"\033[32m"};
inline constexpr Escape kReset{"\033[m"};

/// Empty if the percentage has no colour.
[[nodiscard]] constexpr Escape percent_color(double percent) {
  if (percent >= 5.0 || percent <= -5.0) return kRed;
  return percent > 0.5 || percent < -0.5 ? kGreen : Escape();
}

}  // namespace sonde::render
