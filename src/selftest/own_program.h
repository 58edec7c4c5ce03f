// Runs this program's own commands, as a user would, and keeps what they print.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace sonde::selftest {

struct Finished {
  int status = 0;  // as a shell gives it
  std::string out, err;
};

/// Runs `sonde WORDS…` in `directory`, without input. kFailed if it cannot be started.
[[nodiscard]] Result<Finished> run_own(const std::vector<std::string>& words,
                                       const std::string& directory);

}  // namespace sonde::selftest
