// How many words a command takes behind its options.
#pragma once

#include "base/error.h"
#include "cmd/flags.h"

namespace sonde {

/// For commands that take none. kUsage where there are some.
[[nodiscard]] inline Result<> no_arguments(const Arguments& arguments) {
  if (arguments.empty()) return {};
  return fail(ErrorCode::kUsage, "Error: too many arguments");
}

}  // namespace sonde
