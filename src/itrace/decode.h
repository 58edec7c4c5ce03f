// Turns the instruction traces of a recording into samples, which are then part of it like any
// others: later stages need not know where they came from.
//
//   if (has_traces(recording)) TRY(add_trace_samples(recording, machine, {finder}, options,
//   LogSetup(env.out), losses));
#pragma once

#include "base/loss.h"
#include "itrace/code_image.h"
#include "itrace/debug_log.h"
#include "itrace/options.h"
#include "itrace/trace_input.h"
#include "machine/machine.h"
#include "perfdata/read/recording.h"

namespace sonde::itrace {

/// Adds events and blocks of records to the recording, those of every queue as a stream of their
/// own. Traces that cannot be decoded are an error, unless only a command's defaults ask for them:
/// then nothing is added. `machine` has the recording's whole history, and is frozen. Beyond some
/// size the records are in an unlinked temporary file.
Result<> add_trace_samples(Recording& recording, const Machine& machine, const CodeSources& sources,
                           const ItraceOptions& options, const LogSetup& log_setup,
                           LossLedger& losses);

}  // namespace sonde::itrace
