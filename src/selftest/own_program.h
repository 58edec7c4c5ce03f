// Runs this program's own commands, as a user would, and keeps what they print.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde::selftest {

struct Finished {
  int status = 0;  // as a shell gives it
  std::string out, err;
};

/// Far more than any check takes: a command that is not done by then hangs.
inline constexpr std::chrono::milliseconds kCommandLimit = std::chrono::minutes(2);

/// Runs `sonde WORDS…` in `directory`, without input. kFailed if it cannot be started, or has to be
/// ended after `limit`.
[[nodiscard]] Result<Finished> run_own(const std::vector<std::string>& words,
                                       const std::string& directory,
                                       std::chrono::milliseconds limit = kCommandLimit);

}  // namespace sonde::selftest
