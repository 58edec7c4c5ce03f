// Values of options, as every command writes them: numbers, times, percentages and lists.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace sonde {

/// Parses the whole word as a number; the error says what was expected, in perf's words.
template <typename T>
Result<T> number_from(std::string_view word) {
  T value{};
  if (word.starts_with('+')) word.remove_prefix(1);
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word.empty())
    return fail(ErrorCode::kUsage, "expects {} numerical value",
                std::is_unsigned_v<T> ? "an unsigned" : "a");
  return value;
}

/// Parsers that append to a list, which must outlive them. Errors: kUsage.
/// "a,b,file://names": words, and those listed in a file, one per line.
std::function<Result<>(std::string_view)> words_into(std::vector<std::string>& list);
/// "0,2-5".
std::function<Result<>(std::string_view)> numbers_into(std::vector<uint32_t>& list);

/// How many ns a unit of time has: "ns", "us", "ms", "s"; of the empty one, `plain_ns`.
std::optional<uint64_t> time_unit_ns(std::string_view unit, uint64_t plain_ns);
/// "20us", or a number of units of `plain_ns`; in ns. The error is kUsage.
Result<uint64_t> parse_time_ns(std::string_view word, uint64_t plain_ns);

/// "0.5", or "0.5%".
Result<double> parse_percent(std::string_view word);

}  // namespace sonde
