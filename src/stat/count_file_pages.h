// The counts of a `stat record` file, round by round, as `stat report` shows them.
#pragma once

#include <optional>

#include "base/env.h"
#include "base/error.h"
#include "perfdata/read/recording.h"
#include "stat/options.h"
#include "stat/output.h"

namespace sonde {

/// Writes the file's rounds as pages. Without `grouping`, counts are added up as they were when
/// recorded. kUnsupported if `recording` was not written by `stat record`, kCorrupt if it has no
/// counts.
Result<> write_count_file(const Recording& recording, const StatOptions& options,
                          std::optional<view::CountGrouping> grouping, Env& env,
                          StatOutput& output);

}  // namespace sonde
