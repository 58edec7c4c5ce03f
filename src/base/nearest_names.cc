#include "base/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace sonde {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates, size_t limit) {
  if (name.empty() || name.size() > 100) return {};
  struct Ranked {
    size_t distance;
    size_t index;  // earlier candidates win
    const std::string* name;
  };
  std::string wanted = lower(name);
  std::vector<Ranked> ranked;
  const size_t tolerated =
      wanted.size() < 4 ? wanted.size() / 3 : std::max<size_t>(2, wanted.size() / 4);
  for (const std::string& candidate : candidates) {
    std::string offered = lower(candidate);
    size_t distance = edit_distance(wanted, offered);
    // Part of the right name is a better hint than its edit distance suggests.
    if (wanted.size() >= 3 && offered.find(wanted) != std::string::npos)
      distance = std::min(distance, tolerated);
    if (distance <= tolerated) ranked.push_back({distance, ranked.size(), &candidate});
  }
  std::ranges::sort(ranked, {},
                    [](const Ranked& entry) { return std::pair(entry.distance, entry.index); });
  std::vector<std::string> names;
  for (const Ranked& entry : ranked) {
    if (names.size() == limit) break;
    if (std::ranges::find(names, *entry.name) == names.end()) names.push_back(*entry.name);
  }
  return names;
}

std::string did_you_mean(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string text = "Did you mean ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += '\'' + names[i] + '\'';
  }
  return text + '?';
}

}  // namespace sonde
