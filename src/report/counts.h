// The modes of `report` that look at records instead of samples: --stats, --tasks, --mmaps.
#pragma once

#include "base/sink.h"
#include "replay/session.h"

namespace sonde::report {

void write_stats(Sink& out, const Session& session, bool skip_empty);
/// The task tree; with `mmaps`, also what was mapped in each process at the end.
void write_tasks(Sink& out, const Session& session, bool mmaps);

/// -T: each thread's event counts, from READ records.
void write_thread_counters(Sink& out, const Session& session, bool raw);

}  // namespace sonde::report
