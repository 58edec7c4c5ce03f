// The table of `sched latency`, and what a recording lacks.
#pragma once

#include "base/sink.h"
#include "sched/latency.h"

namespace sonde {

/// `rows` in their order; idle time and tasks that never got a CPU are left out.
void write_latencies(Sink& out, const std::vector<TaskLatency>& rows, const BadSchedEvents& bad,
                     const FeedCounts& counts);

/// How the delays of the rows that are shown spread.
void write_delays(Sink& out, const std::vector<TaskLatency>& rows);

/// A line for each way in which the recording contradicts itself; none for a good one.
void write_flaws(Sink& out, const BadSchedEvents& bad, const FeedCounts& counts);

}  // namespace sonde
