// The recorder's scheduling priority.
//
// On a busy machine, a recorder that waits to be scheduled finds its rings full: records are lost
// by waiting, not by work. So it asks for short time slices: it is scheduled earlier, and its share
// of the CPU stays the same. (A higher share, by niceness, starves the very command it records if
// all processors are busy.) Only the thread that empties the rings, and does nothing else, goes
// before others.
#pragma once

#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// -r: SCHED_FIFO with that priority; an error if that is refused. Without -r: the shortest slice
/// that sched_setattr(2) accepts (Linux 6.12; earlier kernels ignore it). Threads that are started
/// later inherit it; the command, which is already forked, does not.
Result<> raise_recorder_priority(const RecordOptions& options);

/// The calling thread goes before others (the lowest niceness), if the user has not chosen what it
/// is (-r, nice, chrt) and the process may. Threads that it starts later inherit it: threads that
/// work on what it read must be there already.
void put_reader_first(const RecordOptions& options);

}  // namespace sonde
