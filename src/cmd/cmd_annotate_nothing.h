// Why `annotate` has no function to show.
#pragma once

#include "base/env.h"
#include "cmd/cmd_annotate_options.h"
#include "replay/session.h"

namespace sonde::annotation {

/// Whether -d leaves an object: any of its names is in the list, or there is no list.
[[nodiscard]] bool wants_object(const Options& options, const Dso& dso);

/// Says what is the matter with what was asked for; gives the exit status: 0 where the recording
/// has no samples at all.
int say_nothing(const Session& session, const Options& options, Env& env);

}  // namespace sonde::annotation
