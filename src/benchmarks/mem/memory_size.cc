#include "benchmarks/mem/memory_size.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace sonde {

namespace {

/// The power of two of a unit, or none.
std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit.size() > 2) return std::nullopt;
  if (unit.size() == 2 && std::toupper(unit[1]) != 'B') return std::nullopt;
  switch (std::toupper(unit[0])) {
    case 'B':
      return unit.size() == 1 ? std::optional<unsigned>(0) : std::nullopt;
    case 'K':
      return 10;
    case 'M':
      return 20;
    case 'G':
      return 30;
    case 'T':
      return 40;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<size_t> parse_memory_size(std::string_view text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  auto shift = shift_of({rest, end});
  if (!shift || number > std::numeric_limits<size_t>::max() >> *shift) return std::nullopt;
  return number << *shift;
}

}  // namespace sonde
