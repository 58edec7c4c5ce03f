// The full way through a recording: samples with their frames and call chains, from a Session, and
// the records between them.
#pragma once

#include "python/script_events.h"
#include "script/dlfilters/filter_run.h"

namespace sonde::python {

/// Hands everything that the session has, or gets, to the script, in time order; with `dlfilter`,
/// null if there is none, the samples that it keeps.
Result<> run_session(ScriptEvents& script, const PyRef& context, Session& session,
                     const ScriptOptions& options, FilterRun* dlfilter, Env& env);

}  // namespace sonde::python
