// `record`, run by another command in its own process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"

namespace sonde {

/// `words` is its command line, without "record". Flags that it does not take are `who`'s error,
/// "trace record". The exit status.
Result<int> run_record(const std::vector<std::string>& words, std::string_view who, Env& env);

}  // namespace sonde
