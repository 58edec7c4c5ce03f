// What is built in, under the names that perf gives it: for `version` and `check`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde {

struct Feature {
  std::string_view name;   // "dwarf"
  bool (*is_on)();         // whether Sonde has it, with whatever library
  std::string_view macro;  // of perf's build: "HAVE_DWARF_SUPPORT"
};

[[nodiscard]] std::span<const Feature> all_features();
/// Its line in a list of features.
[[nodiscard]] std::string feature_line(const Feature& feature);

}  // namespace sonde
