// The work of `stat` and `stat record`: runs the command as often as asked, adds up, writes.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "stat/options.h"

namespace sonde {

/// Returns the exit status: the command's, or 128 + the signal that ended it or the measurement.
Result<int> run_stat(const StatOptions& options, bool recording, Env& env);

}  // namespace sonde
