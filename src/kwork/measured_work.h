// The kernel's work measured by BPF programs, without a recording.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "kwork/work_analysis.h"

namespace sonde {

/// Measures the whole machine while `command` runs, or until interrupted if it is empty, and passes
/// `write` an analysis like that of a recording. Returns the command's exit status.
Result<int> measure_work(const WorkOptions& options, const std::vector<std::string>& command,
                         Env& env, const std::function<void(const WorkAnalysis&)>& write);

}  // namespace sonde
