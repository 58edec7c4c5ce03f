// Counts as in perf's headings: "149 ", "1K", "20M".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::render {

/// perf divides by 1000 while the value exceeds 1000; a blank means no unit.
inline std::string short_count(uint64_t count) {
  constexpr std::string_view kUnits = " KMG";
  size_t unit = 0;
  while (count > 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{}{}", count, kUnits[unit]);
}

}  // namespace sonde::render
