// NameFilter: which names to show, by perf's rules (perf-probe(1), "FILTER PATTERN"): globs with
// `*`, `?`, `[a-z]`, `[!a]` and backslash, combined with `!`, `&`, `|` and parentheses. `!` binds
// closest, then `&`.
//
//   NameFilter filter = TRY(NameFilter::parse("!_* & !*@plt"));
//   filter.matches("main")    true
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

class NameFilter {
 public:
  /// Matches every name.
  NameFilter() = default;
  /// kBadEvent: what is wrong, and where.
  static Result<NameFilter> parse(std::string_view text);

  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  friend class NameFilterParser;
  enum class Kind : uint8_t { kGlob, kNot, kAnd, kOr };
  /// In reverse Polish notation, so that no nesting, however deep, needs recursion to evaluate.
  struct Step {
    Kind kind = Kind::kGlob;
    std::string glob = {};
  };
  std::vector<Step> steps_;
};

}  // namespace sonde
