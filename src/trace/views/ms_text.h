// Nanoseconds as milliseconds with three decimals, rounded like printf("%*.3f").
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>

namespace sonde {

/// Appends `ns` as milliseconds, right-aligned to `width`. The digits come from integer arithmetic;
/// only exact ties are left to the rounding of a double.
inline void append_ms(uint64_t ns, size_t width, std::string& out) {
  uint64_t us = ns / 1000, rest = ns % 1000;
  if (rest == 500) {
    fmt::format_to(std::back_inserter(out), "{:{}.3f}", static_cast<double>(ns) / 1e6, width);
    return;
  }
  if (rest > 500) ++us;
  char digits[32];
  char* at = std::end(digits);
  for (int i = 0; i < 3; ++i, us /= 10) *--at = static_cast<char>('0' + us % 10);
  *--at = '.';
  do {
    *--at = static_cast<char>('0' + us % 10);
    us /= 10;
  } while (us != 0);
  auto size = static_cast<size_t>(std::end(digits) - at);
  if (size < width) out.append(width - size, ' ');
  out.append(at, size);
}

}  // namespace sonde
