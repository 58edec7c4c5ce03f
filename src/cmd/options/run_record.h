// Runs `record` from another command, in the same process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"

namespace sonde {

/// `words` is its command line, without "record". Flags that it does not accept are reported as an
/// error of `who`, "trace record". Returns the exit status.
Result<int> run_record(const std::vector<std::string>& words, std::string_view who, Env& env);

}  // namespace sonde
