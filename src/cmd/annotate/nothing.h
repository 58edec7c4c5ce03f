// Why `annotate` has no function to show.
#pragma once

#include "base/env.h"
#include "cmd/annotate/flags.h"
#include "replay/session.h"

namespace sonde::annotation {

/// Whether -d selects an object: any of its names is in the list, or there is no list.
[[nodiscard]] bool wants_object(const Options& options, const Dso& dso);

/// Explains why nothing matches the request. Returns the exit status: 0 if the recording has no
/// samples at all.
int report_nothing(const Session& session, const Options& options, Env& env);

}  // namespace sonde::annotation
