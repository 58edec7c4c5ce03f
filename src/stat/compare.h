// `stat --vs` and `stat --compare`: runs both sides, or one against a baseline from disk, and
// writes what the numbers support. `stat --save` keeps one side for later.
#pragma once

#include "analysis/comparison/baseline.h"
#include "base/env.h"
#include "base/error.h"
#include "stat/options.h"

namespace sonde {

/// The exit status if a gate was exceeded. No command uses it: it is above 128 plus the last
/// signal, and below the failure statuses of shells, ssh and Sonde.
inline constexpr int kGateStatus = 193;

/// Returns the exit status: that of the first run of either command that failed, which ends the
/// comparison; kGateStatus; or 0.
Result<int> run_stat_comparison(const StatOptions& options, Env& env);

/// Where and how the runs are made, to be saved with them.
Baseline describe_this_machine(const StatOptions& options);
Result<> save_baseline(const Baseline& baseline, const std::string& path);

}  // namespace sonde
