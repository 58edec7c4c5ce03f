// Where perf's scripts and filters are installed.
#pragma once

#include <string>

#include "base/env.h"

namespace sonde {

/// $PERF_EXEC_PATH, or where perf is installed, as `perf --exec-path` says.
std::string find_exec_path(const Env& env);

}  // namespace sonde
