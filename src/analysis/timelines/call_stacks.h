// The time of calls as stacks: each call's own time, without that of the calls inside it.
//
//   main;parse;next_token 3100
#pragma once

#include "base/error.h"
#include "replay/session.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// Of all threads that are shown; the column is "traced-time" in nanoseconds. With `want_samples`,
/// each time between one call's entry or return and the next in its thread is a sample at its
/// start.
StackProfile call_stacks(const view::Timeline& timeline, bool want_samples,
                         const SpellingOptions& spelling = {});

/// The same of a session that was opened with call_timeline_trace(), as a ProfileSourceOptions
/// takes it.
Result<StackProfile> call_stacks_of(Session& session, const SessionStacksOptions& options);

}  // namespace sonde
