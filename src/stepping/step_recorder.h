// `record -e sonde_step//`: an Intel PT recording made without Intel PT, by single-stepping.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Records as run_recording does (capture/recorders/recorder.h), with the same exit statuses.
/// Options that make no sense when stepping are refused: kUnsupported.
Result<int> run_step_recording(const RecordOptions& options, Env& env);

}  // namespace sonde
