// Recorder: a recording from its options to a finished file. `run` reads as the story:
//
//   whom (target) → what (events configured) → the command is forked and held → events opened →
//   rings mapped → file begun → what already runs is described → events on, command released →
//   rings drained until the end → what remains is read → build ids and features → file complete
//
// Errors before the first record leave no half-made file that looks like a recording. From then on
// every end (the command's, Ctrl-C, a full disk, --max-size) finishes the file.
#pragma once

#include <memory>

#include "base/env.h"
#include "base/error.h"
#include "capture/record_options.h"

namespace sonde {

/// Records; gives the exit status: that of the command, 128 + the number of the signal that ended
/// it or us. Messages go to env.err.
Result<int> run_recording(const RecordOptions& options, Env& env);

}  // namespace sonde
