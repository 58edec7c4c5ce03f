// `top` while it runs: rings are drained into memory, and every few seconds the new records are
// replayed, grouped into rows and shown.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "top/options.h"

namespace sonde::top {

/// Runs until the user or the target ends it. Keys change `options`.
Result<int> run_top(TopOptions& options, Env& env);

}  // namespace sonde::top
