// How many words a command accepts after its options.
#pragma once

#include "base/error.h"
#include "cli/flags.h"

namespace sonde {

/// For commands that take no arguments. Fails with kUsage if there are any.
[[nodiscard]] inline Result<> no_arguments(const Arguments& arguments) {
  if (arguments.empty()) return {};
  return fail(ErrorCode::kUsage, "Error: too many arguments");
}

}  // namespace sonde
