// `-u USER`: a BPF program keeps the samples that were taken while the user's code ran, on the
// whole machine: also those of processes that start later. Where that is not possible, the threads
// that the user has now are recorded, and a line says why.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Whom to record: `options.target`, or every CPU, with `events` filtered by the user. Whose code
/// it is tells the real user id at the time of the sample. kNotFound: no such user.
Result<TargetOptions> filtered_by_user(const RecordOptions& options, EventList& events, Env& env);

}  // namespace sonde
