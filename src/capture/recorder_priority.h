// The recorder's place among the processes that wait for a CPU.
//
// Where everything is busy, a recorder that waits for its turn finds its rings full: what is lost
// is lost by waiting, not by work. So it asks for short slices of time: its turn comes earlier, and
// its share stays what it was. (A higher share, by niceness, starves the very command that it
// records where all processors are busy.)
#pragma once

#include "base/error.h"
#include "capture/record_options.h"

namespace sonde {

/// -r: SCHED_FIFO with that priority; an error where that is refused. Without -r: the shortest
/// slice that sched_setattr(2) takes (Linux 6.12; kernels before don't look at it). Threads that
/// are started later have it too; the command, which is forked already, has not.
Result<> raise_recorder_priority(const RecordOptions& options);

}  // namespace sonde
