// Terminal colours of percentages, as perf paints them: red from 5 %, green above 0.5 %.
#pragma once

#include <string_view>

namespace sonde::render {

inline constexpr std::string_view kRed = "\033[31m";
inline constexpr std::string_view kGreen = "\033[32m";
inline constexpr std::string_view kReset = "\033[m";

/// Empty if the percentage has no colour.
[[nodiscard]] constexpr std::string_view percent_color(double percent) {
  if (percent >= 5.0 || percent <= -5.0) return kRed;
  return percent > 0.5 || percent < -0.5 ? kGreen : std::string_view();
}

}  // namespace sonde::render
