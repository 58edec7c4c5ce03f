// Strings inside JSON.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde::render {

/// `text` with its quotes; bytes that are no UTF-8 are passed on as they are.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

}  // namespace sonde::render
