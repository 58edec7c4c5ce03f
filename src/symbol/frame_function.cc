#include "symbol/frame_function.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sonde {

std::string frame_function_name(std::string_view object, uint64_t start) {
  return fmt::format("{}+{:#x}", object, start);
}

std::optional<uint64_t> frame_function_start(std::string_view name) {
  size_t plus = name.rfind("+0x");
  if (plus == name.npos || plus == 0) return std::nullopt;
  return parse_hex(name.substr(plus + 1));
}

}  // namespace sonde
