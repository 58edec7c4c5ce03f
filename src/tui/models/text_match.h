// A search for rows: a substring, or a POSIX extended regular expression.
//
// Case is ignored unless the pattern contains a capital letter.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds/regex.h"
#include "base/error.h"

namespace sonde::tui {

class TextMatch {
 public:
  enum class Kind : uint8_t { kPiece, kRegex };
  /// Matches everything.
  TextMatch() = default;
  /// Fails if the regular expression is invalid.
  static Result<TextMatch> make(std::string pattern, Kind kind);

  [[nodiscard]] bool matches(std::string_view text) const;
  /// [from, to) of all matches.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> places(std::string_view text) const;
  [[nodiscard]] bool matches_all() const { return pattern_.empty(); }
  [[nodiscard]] const std::string& pattern() const { return pattern_; }
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  [[nodiscard]] std::pair<size_t, size_t> find(std::string_view text, size_t from) const;
  std::string pattern_;  // lower case if a substring that ignores case
  Kind kind_ = Kind::kPiece;
  bool ignores_case_ = false;
  std::shared_ptr<const Regex> regex_;
};

}  // namespace sonde::tui
