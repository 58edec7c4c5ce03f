#include "base/option_values.h"

#include <algorithm>
#include <cstdlib>

#include "base/files/regular_file.h"
#include "base/text.h"

namespace sonde {
namespace {

Result<std::vector<std::string>> words_of_file(const std::string& path) {
  std::string text = TRY(read_stream(path));
  std::vector<std::string> words;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (!line.empty() && !line.starts_with('#')) words.emplace_back(line);
  }
  return words;
}

Result<> add_words(std::string_view text, std::vector<std::string>& list) {
  for (std::string_view word : split(text, ',')) {
    if (word.starts_with("file://")) {
      for (std::string& found : TRY(words_of_file(std::string(word.substr(7)))))
        list.push_back(std::move(found));
    } else if (!word.empty()) {
      list.emplace_back(word);
    }
  }
  return {};
}

Result<> add_numbers(std::string_view text, std::vector<uint32_t>& list) {
  for (std::string_view word : split(text, ',')) {
    size_t dash = word.find('-');
    auto first = parse_number(word.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (!first || !last || *last < *first || *last > UINT32_MAX || *last - *first > 65536)
      return fail(ErrorCode::kUsage, "expects numbers divided by commas, not '{}'", word);
    for (uint64_t i = *first; i <= *last; ++i) list.push_back(static_cast<uint32_t>(i));
  }
  return {};
}

}  // namespace

std::function<Result<>(std::string_view)> words_into(std::vector<std::string>& list) {
  return [&list](std::string_view text) { return add_words(text, list); };
}

std::optional<uint64_t> time_unit_ns(std::string_view unit, uint64_t plain_ns) {
  if (unit.empty()) return plain_ns;
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "s") return 1'000'000'000;
  return std::nullopt;
}

Result<uint64_t> parse_time_ns(std::string_view word, uint64_t plain_ns) {
  size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  auto number = parse_number(word.substr(0, digits));
  auto unit = time_unit_ns(word.substr(digits), plain_ns);
  uint64_t ns = 0;
  if (!number || !unit || __builtin_mul_overflow(*number, *unit, &ns))
    return fail(ErrorCode::kUsage, "expects a time such as 500, 20us or 3ms, not '{}'", word);
  return ns;
}

Result<double> parse_percent(std::string_view word) {
  std::string number(word.ends_with('%') ? word.substr(0, word.size() - 1) : word);
  char* end = nullptr;
  double percent = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !(percent >= 0))
    return fail(ErrorCode::kUsage, "expects a percentage, not '{}'", word);
  return percent;
}

std::function<Result<>(std::string_view)> numbers_into(std::vector<uint32_t>& list) {
  return [&list](std::string_view text) { return add_numbers(text, list); };
}

}  // namespace sonde
