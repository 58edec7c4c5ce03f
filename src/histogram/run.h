// A run of `histogram`: measures, or reads a recording, and writes what came out.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "histogram/options.h"

namespace sonde {

/// The command's exit status; 0 without a command.
[[nodiscard]] Result<int> run_histogram(const HistogramOptions& options, Env& env);

}  // namespace sonde
