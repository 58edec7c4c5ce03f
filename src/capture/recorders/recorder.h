// Recorder: a recording from its options to a finished file. The steps of `run`:
//
//   whom (target) → what (events configured) → the command is forked and held → events opened →
//   rings mapped → file begun → running tasks described → events on, command released →
//   rings drained until the end → the rest is read → build ids and features → file complete
//
// Errors before the first record leave no half-written file that looks like a recording. From then
// on every kind of end (the command's, Ctrl-C, a full disk, --max-size) completes the file.
#pragma once

#include <memory>

#include "base/env.h"
#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Records; returns the exit status: the command's, or 128 + the number of the signal that ended
/// the command or us. Messages go to env.err.
Result<int> run_recording(const RecordOptions& options, Env& env);

}  // namespace sonde
