#include "event/parser/event_error.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kOpening = "event syntax error: ";
/// Text further than this to the left of the position is cut off, so that the caret stays visible.
constexpr size_t kMaxIndent = 13;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

}  // namespace

size_t EventErrors::position(std::string_view place) const {
  std::less_equal<const char*> before;
  const char* end = text_.data() + text_.size();
  if (place.data() == nullptr || !before(text_.data(), place.data()) || !before(place.data(), end))
    return 0;
  return static_cast<size_t>(place.data() - text_.data());
}

std::unexpected<Error> EventErrors::fail(std::string_view place, std::string_view message,
                                         std::string_view help) const {
  size_t at = position(place);
  size_t cut = at > kMaxIndent ? at - kMaxIndent : 0;
  // The quotes take two columns.
  size_t room = columns_ > kOpening.size() + 22 ? columns_ - 2 - kOpening.size() : 20;

  std::string shown = one_line(text_.substr(cut, room));
  if (cut > 0) shown.replace(0, 2, "..");
  if (text_.size() - cut > room) shown.replace(room - 2, 2, "..");

  std::string said = fmt::format("{}'{}'\n{:{}}\\___ {}\n", kOpening, shown, "",
                                 kOpening.size() + (at - cut) + 1, message);
  if (!help.empty()) said += fmt::format("\n{}\n", help);
  said += fmt::format("Run '{} list' for a list of valid events", tool_);
  return std::unexpected(Error{ErrorCode::kBadEvent, std::move(said)});
}

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
