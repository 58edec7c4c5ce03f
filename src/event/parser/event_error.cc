#include "event/parser/event_error.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kOpening = "event syntax error: ";
/// Text further than this to the left of the position is cut off, so that the caret stays visible.
constexpr size_t kMaxIndent = 13;

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

}  // namespace sonde
