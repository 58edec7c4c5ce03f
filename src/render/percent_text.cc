#include "render/percent_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>

namespace sonde::render {

// A table of a hundred thousand rows has two or three of these per row, and printing a double
// exactly takes ten times as long as printing an integer.
void append_percent(std::string& out, double percent, size_t width) {
  constexpr size_t kRoom = 24;
  double hundredths = percent * 100;
  double whole = std::floor(hundredths);
  double rest = hundredths - whole;
  // Near a tie, the product may have been rounded to the other side.
  bool is_clear = percent >= 0 && percent < 1e6 && std::abs(rest - 0.5) > 1e-6;
  if (!is_clear || width > kRoom) {
    fmt::format_to(std::back_inserter(out), "{:{}.2f}", percent, width);
    return;
  }
  auto number = static_cast<uint32_t>(whole) + (rest > 0.5 ? 1 : 0);
  char text[kRoom];
  size_t begin = kRoom;
  for (size_t digits = 0; digits < 3 || number != 0; ++digits) {
    if (digits == 2) text[--begin] = '.';
    text[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  while (kRoom - begin < width) text[--begin] = ' ';
  out.append(text + begin, kRoom - begin);
}

}  // namespace sonde::render
