// The full way through a recording: samples with their frames and call chains, from a Session, and
// the records between them.
#pragma once

#include "python/script_events.h"
#include "script/options.h"

namespace sonde::python {

/// Hands everything that the session has, or gets, to the script, in time order.
Result<> run_session(ScriptEvents& script, const PyRef& context, Session& session,
                     const ScriptOptions& options, Env& env);

}  // namespace sonde::python
