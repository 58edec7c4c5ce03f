// FilterText: what parsers of --filter's expressions have in common.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace sonde {

class FilterText {
 protected:
  explicit FilterText(std::string_view text) : text_(text) {}

  /// kUsage, with the place in the text.
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const {
    return fail(ErrorCode::kUsage, "--filter '{}': {} at '{}'", text_, why,
                at_ < text_.size() ? text_.substr(at_) : std::string_view("the end"));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  /// Whether `word` comes next, behind blanks; if so it is passed.
  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace sonde
