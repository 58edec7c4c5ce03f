// The quick way through a recording of tracepoints: one scan, as for an analysis
// (replay/passes/record_pipeline.h), if a script asks for nothing but the events' own fields.
//
// Samples are found and sorted in other threads while the script runs; all of Python runs in the
// thread that calls, as scripts expect (an SQLite connection may only be used where it was opened).
#pragma once

#include "perfdata/read/file_scan.h"
#include "python/script_events.h"

namespace sonde::python {

/// Whether all events are tracepoints whose samples have what handlers are called with.
bool is_of_tracepoints(const EventTable& events);
/// Hands every sample to its handler, in time order. Both scans must be at their start and of the
/// same file: the first one is read for the names of threads.
Result<> run_tracepoints(ScriptEvents& script, const PyRef& context, FileScan& names,
                         FileScan& samples, LossLedger& losses);

}  // namespace sonde::python
