// What is looked for in rows: a piece of text, or a POSIX extended regular expression.
//
// Small letters match capitals, too, unless the pattern has a capital itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sonde::tui {

class TextMatch {
 public:
  enum class Kind : uint8_t { kPiece, kRegex };
  /// Matches everything.
  TextMatch() = default;
  /// An error where the regular expression is none.
  static Result<TextMatch> make(std::string pattern, Kind kind);

  [[nodiscard]] bool matches(std::string_view text) const;
  /// [from, to) of all matches.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> places(std::string_view text) const;
  [[nodiscard]] bool matches_all() const { return pattern_.empty(); }
  [[nodiscard]] const std::string& pattern() const { return pattern_; }
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  struct Compiled;
  [[nodiscard]] std::pair<size_t, size_t> find(std::string_view text, size_t from) const;
  std::string pattern_;  // of a piece that ignores case: in small letters
  Kind kind_ = Kind::kPiece;
  bool ignores_case_ = false;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sonde::tui
