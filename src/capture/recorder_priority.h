// The recorder's place among the processes that wait for a CPU.
//
// Where everything is busy, a recorder that waits for its turn finds its rings full: what is lost
// is lost by waiting, not by work. So it asks for an early turn.
#pragma once

#include "base/error.h"
#include "capture/record_options.h"

namespace sonde {

/// -r: SCHED_FIFO with that priority; an error where that is refused. Without -r: the highest
/// niceness, as far as that is allowed, and unless the user gave us another one (`nice`). Threads
/// that are started later have it too; the command, which is forked already, has not.
Result<> raise_recorder_priority(const RecordOptions& options);

}  // namespace sonde
