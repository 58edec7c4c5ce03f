// The user's defaults: perfconfig files, as perf keeps them (perf-config(1)).
//
// The text is git-like: `[section]` or `[section "sub"]`, then `key = value` lines; `#` and `;`
// open comments, double quotes keep blanks, a backslash escapes (`\n` `\t` `\"` `\\`) or continues
// a line, and a key without `=` is "true". A name is `section.key` or `section.sub.key`; sections
// and keys don't distinguish case. Later settings win.
//
//   if (auto mode = env.config.get("call-graph.record-mode")) ...
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

class Config {
 public:
  struct Entry {
    std::string name;  // "report.percent-limit"
    std::string value;
  };

  /// Adds the settings of a file's text. Errors name `file` and the line.
  Result<> parse(std::string_view text, std::string_view file);
  /// Adds one setting, or replaces it in place.
  void set(std::string_view name, std::string_view value);

  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  /// true/yes/on/1 and false/no/off/0; fails for other words; `fallback` if it isn't set.
  [[nodiscard]] Result<bool> get_bool(std::string_view name, bool fallback) const;
  /// Every setting once, in the order in which the names first appeared.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  /// In the format of a file, sections in order of appearance, keys indented by a tab.
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace sonde
