#include "capture/opening/parse_size.h"

#include <span>
#include <utility>

#include "base/text.h"

namespace sonde {
namespace {

std::optional<uint64_t> with_unit(std::string_view text,
                                  std::span<const std::pair<char, uint64_t>> units) {
  if (text.size() < 2) return std::nullopt;
  for (auto [letter, factor] : units) {
    if (text.back() != letter) continue;
    std::optional<uint64_t> number = parse_number(text.substr(0, text.size() - 1));
    uint64_t product = 0;
    if (!number || __builtin_mul_overflow(*number, factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  constexpr std::pair<char, uint64_t> kUnits[] = {{'B', 1},       {'K', 1 << 10}, {'M', 1 << 20},
                                                  {'G', 1 << 30}, {'b', 1},       {'k', 1 << 10},
                                                  {'m', 1 << 20}, {'g', 1 << 30}};
  return with_unit(text, kUnits);
}

std::optional<uint64_t> parse_duration_ms(std::string_view text) {
  constexpr std::pair<char, uint64_t> kUnits[] = {
      {'s', 1000}, {'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}};
  return with_unit(text, kUnits);
}

}  // namespace sonde
