#include "analysis/latencies/latency_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace sonde {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::optional<double> take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  double value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  line.remove_prefix(word.size());
  return value;
}

}  // namespace

Result<LatencyText> read_latency_text(std::string_view text, const std::string& name) {
  LatencyText read;
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    auto time = take_number(line);
    auto latency = time ? take_number(line) : std::nullopt;
    if (latency) {
      read.lines.push_back({*time, *latency});
    } else if (number > 1) {
      if (read.skipped++ == 0) read.first_skipped = number;
    }
  }
  if (read.lines.empty())
    return fail(ErrorCode::kCorrupt, "{}: no lines of a time and a latency in it", name);
  return read;
}

}  // namespace sonde
