#include "bpf/map_setting.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kPrefix = "map:";

std::optional<uint32_t> parse_index(std::string_view text) {
  std::optional<uint64_t> number = parse_number(text);
  if (!number || *number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// "3", "2-4", "2...4"
std::optional<std::pair<uint32_t, uint32_t>> parse_range(std::string_view text) {
  size_t gap = text.find("...");
  size_t width = gap == std::string_view::npos ? 1 : 3;
  if (gap == std::string_view::npos) gap = text.find('-');
  std::optional<uint32_t> first = parse_index(text.substr(0, gap));
  std::optional<uint32_t> last =
      gap == std::string_view::npos ? first : parse_index(text.substr(gap + width));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

bool MapSetting::covers(uint32_t index) const {
  return indexes.empty() || std::ranges::any_of(indexes, [&](const auto& range) {
           return range.first <= index && index <= range.second;
         });
}

Result<MapSetting> parse_map_setting(std::string_view name, std::string_view value) {
  MapSetting setting;
  std::string_view text = name;
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  size_t bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    if (!text.ends_with(']')) return fail(ErrorCode::kBadEvent, "'{}': ']' is missing", name);
    for (std::string_view part : split(text.substr(bracket + 1, text.size() - bracket - 2), ',')) {
      auto range = parse_range(trim(part));
      if (!range)
        return fail(ErrorCode::kBadEvent, "'{}': '{}' is no index and no range of indexes", name,
                    part);
      setting.indexes.push_back(*range);
    }
    text = text.substr(0, bracket);
  }
  size_t dot = text.rfind('.');
  std::string_view what = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  setting.map = text.substr(0, dot);
  if (setting.map.empty() || (what != "event" && what != "value"))
    return fail(ErrorCode::kBadEvent, "'{}': expected map:NAME.value or map:NAME.event", name);
  if (value.empty()) return fail(ErrorCode::kBadEvent, "'{}' needs a value", name);
  if (what == "event") {
    setting.event = value;
    return setting;
  }
  setting.value = parse_number(value);
  if (!setting.value) return fail(ErrorCode::kBadEvent, "'{}': '{}' is no number", name, value);
  return setting;
}

}  // namespace sonde
