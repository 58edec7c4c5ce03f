// `annotate` on a terminal: the functions with samples, heaviest first, and the code of each.
#pragma once

#include "base/env.h"
#include "cmd/annotate/flags.h"
#include "replay/session.h"

namespace sonde::annotation {

/// `hits` are those of the requested functions; at least one. If a symbol was given, its code is
/// opened at once. `events` are the tables: single events, or groups.
Result<int> browse(const Session& session, const annotate::RecordingHits& hits,
                   const std::vector<std::vector<EventId>>& events, const Options& options,
                   Env& env);

}  // namespace sonde::annotation
