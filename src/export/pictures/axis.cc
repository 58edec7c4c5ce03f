#include "export/pictures/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

constexpr int kFewDigits = 3;

std::string with_unit(double value, const char* blank, const char* unit) {
  return plain_number(value, kFewDigits) + blank + unit;
}

}  // namespace

double round_step(double span, size_t at_most) {
  if (!(span > 0) || !std::isfinite(span) || at_most == 0) return 1;
  double step = std::pow(10, std::floor(std::log10(span / static_cast<double>(at_most))));
  for (double factor : {1.0, 2.0, 5.0, 10.0})
    if (span <= step * factor * static_cast<double>(at_most) * (1 + 1e-9)) return step * factor;
  return step * 20;
}

std::vector<double> round_ticks(double from, double to, size_t at_most) {
  std::vector<double> ticks;
  double step = round_step(to - from, at_most);
  double first = std::ceil(from / step - 1e-9);
  for (size_t i = 0; i <= at_most; ++i) {
    double tick = (first + static_cast<double>(i)) * step;
    if (tick > to + step * 1e-9) break;
    ticks.push_back(tick);
  }
  return ticks;
}

std::string plain_number(double value, int digits) {
  if (!std::isfinite(value)) return "?";
  if (value == 0) return "0";
  int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::clamp(digits - before_point, 0, 15));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string time_text(double ns) {
  if (ns == 0) return "0";
  double size = std::abs(ns);
  if (size < 999.5) return with_unit(ns, " ", "ns");
  if (size < 999.5e3) return with_unit(ns / 1e3, " ", "µs");
  if (size < 999.5e6) return with_unit(ns / 1e6, " ", "ms");
  return with_unit(ns / 1e9, " ", "s");
}

std::string short_number(double value) {
  constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return with_unit(value, "", kUnits[unit]);
}

}  // namespace sonde
