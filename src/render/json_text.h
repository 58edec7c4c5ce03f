// Strings and numbers in JSON.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace sonde::render {

/// `text` with its quotes.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

/// JSON has no infinity and no NaN.
[[nodiscard]] inline std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

}  // namespace sonde::render
