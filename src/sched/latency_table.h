// The table of `sched latency`, and the flaws of a recording.
#pragma once

#include "base/sink.h"
#include "sched/latency.h"

namespace sonde {

/// `rows` in their given order; idle time and tasks that never got a CPU are left out.
void write_latencies(Sink& out, const std::vector<TaskLatency>& rows, const BadSchedEvents& bad,
                     const PipelineCounts& counts);

/// The distribution of the delays of the rows shown.
void write_delays(Sink& out, const std::vector<TaskLatency>& rows);

/// One line per kind of contradiction in the recording; none for a good one.
void write_flaws(Sink& out, const BadSchedEvents& bad, const PipelineCounts& counts);

}  // namespace sonde
