#include "replay/fields/time_ranges.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace sonde {
namespace {

/// "12.345678" as nanoseconds; digits beyond the ninth are dropped.
std::optional<uint64_t> parse_seconds(std::string_view text) {
  size_t dot = text.find('.');
  std::string_view whole = text.substr(0, dot);
  uint64_t seconds = 0;
  auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
  if (error != std::errc() || end != whole.data() + whole.size()) return std::nullopt;
  uint64_t ns = 0;
  if (dot != std::string_view::npos) {
    std::string digits(text.substr(dot + 1, 9));
    digits.resize(9, '0');
    auto [stop, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), ns);
    if (wrong != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  }
  return seconds * 1'000'000'000 + ns;
}

std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value / 100.0;
}

std::optional<TimeRange> share_of(std::string_view word, uint64_t first, uint64_t last) {
  auto total = static_cast<double>(last - first);
  auto at = [&](double share) { return first + static_cast<uint64_t>(share * total + 0.5); };
  if (size_t slash = word.find('/'); slash != std::string_view::npos) {
    auto share = parse_percent(word.substr(0, slash));
    auto index = parse_number(word.substr(slash + 1));
    if (!share || !index || *index == 0) return std::nullopt;
    double end = *share * static_cast<double>(*index);
    if (end > 1.0 + 1e-9) return std::nullopt;
    TimeRange range{at(end - *share), at(end)};
    if (range.to_ns < last) --range.to_ns;
    return range;
  }
  size_t dash = word.find('-');
  auto begin =
      dash == std::string_view::npos ? std::optional(0.0) : parse_percent(word.substr(0, dash));
  auto end = parse_percent(dash == std::string_view::npos ? word : word.substr(dash + 1));
  if (!begin || !end || *end > 1.0 || *begin > *end) return std::nullopt;
  TimeRange range{at(*begin), at(*end)};
  if (range.to_ns < last) --range.to_ns;
  return range;
}

std::optional<TimeRange> span_of(std::string_view word) {
  size_t comma = word.find(',');
  std::string_view from = word.substr(0, comma);
  std::string_view to = comma == std::string_view::npos ? "" : word.substr(comma + 1);
  auto begin = from.empty() ? std::optional<uint64_t>(0) : parse_seconds(from);
  auto end = to.empty() ? std::optional<uint64_t>(UINT64_MAX) : parse_seconds(to);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return TimeRange{*begin, *end};
}

}  // namespace

Result<std::vector<TimeRange>> parse_time_ranges(std::string_view text, uint64_t first_ns,
                                                 uint64_t last_ns) {
  std::vector<TimeRange> ranges;
  if (text.empty()) return ranges;
  bool shares = text.find('%') != std::string_view::npos;
  for (std::string_view word : split(text, shares ? ',' : ' ')) {
    if (trim(word).empty()) continue;
    auto range = shares ? share_of(trim(word), first_ns, last_ns) : span_of(trim(word));
    if (!range) return fail(ErrorCode::kFailed, "Invalid time string");
    ranges.push_back(*range);
  }
  return ranges;
}

Result<TimeRange> parse_time_span(std::string_view text) {
  if (text.find('%') != std::string_view::npos)
    return fail(ErrorCode::kUsage, "--time expects start,stop in seconds; it takes no shares here");
  std::vector<TimeRange> ranges = TRY(parse_time_ranges(text, 0, 0));
  if (ranges.size() > 1)
    return fail(ErrorCode::kUsage, "--time: one span at a time, not {}", ranges.size());
  return ranges.empty() ? TimeRange() : ranges[0];
}

std::vector<TimeRange> time_ranges_by_header(std::string_view text, const Features& features) {
  const auto& span = features.sample_time;
  if (!span && text.find('%') != std::string_view::npos) return {};
  return parse_time_ranges(text, span ? span->first_ns : 0, span ? span->last_ns : 0)
      .value_or(std::vector<TimeRange>());
}

}  // namespace sonde
