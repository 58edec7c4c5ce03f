// The module perf_trace_context, which scripts import from: functions about the event that is being
// handled (perf-script-python(1), "perf_trace_context Module").
#pragma once

#include "base/config.h"
#include "python/context.h"
#include "python/python_library.h"

namespace sonde::python {

inline constexpr const char* kContextModule = "perf_trace_context";

/// Makes the module importable; before the interpreter starts.
void add_context_module();
/// What its perf_config_get answers from then on; must outlive the interpreter, which runs.
void give_config(const Config& config);
/// `context` as scripts hold it; it must outlive the interpreter.
PyRef context_object(ScriptContext& context);

}  // namespace sonde::python
