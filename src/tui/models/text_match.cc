#include "tui/models/text_match.h"

#include <algorithm>
#include <cctype>

namespace sonde::tui {
namespace {

constexpr std::pair<size_t, size_t> kNowhere = {std::string_view::npos, std::string_view::npos};

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_capital(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Result<TextMatch> TextMatch::make(std::string pattern, Kind kind) {
  TextMatch made;
  made.kind_ = kind;
  made.ignores_case_ = !has_capital(pattern);
  if (kind == Kind::kRegex && !pattern.empty()) {
    Regex regex = TRY(Regex::compile(
        pattern, made.ignores_case_ ? Regex::Letters::kIgnoreCase : Regex::Letters::kAsTheyAre));
    made.regex_ = std::make_shared<const Regex>(std::move(regex));
  }
  made.pattern_ = std::move(pattern);
  return made;
}

std::pair<size_t, size_t> TextMatch::find(std::string_view text, size_t from) const {
  if (regex_) return regex_->find(text, from).value_or(kNowhere);
  auto begin = text.begin() + static_cast<ptrdiff_t>(from);
  auto found = ignores_case_ ? std::search(begin, text.end(), pattern_.begin(), pattern_.end(),
                                           [](char a, char b) { return small(a) == b; })
                             : std::search(begin, text.end(), pattern_.begin(), pattern_.end());
  if (found == text.end()) return kNowhere;
  auto at = static_cast<size_t>(found - text.begin());
  return {at, at + pattern_.size()};
}

bool TextMatch::matches(std::string_view text) const {
  return matches_all() || find(text, 0) != kNowhere;
}

std::vector<std::pair<size_t, size_t>> TextMatch::places(std::string_view text) const {
  std::vector<std::pair<size_t, size_t>> found;
  if (matches_all()) return found;
  for (size_t at = 0; at < text.size();) {
    auto place = find(text, at);
    if (place == kNowhere) break;
    if (place.second > place.first) found.push_back(place);
    at = std::max(place.second, place.first + 1);
  }
  return found;
}

}  // namespace sonde::tui
