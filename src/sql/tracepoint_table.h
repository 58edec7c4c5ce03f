// A table per tracepoint of the recording, named as perf's scripts name their handlers: the event
// sched:sched_switch is sched__sched_switch. Its fields are columns.
#pragma once

#include <memory>
#include <vector>

#include "replay/fields/trace_formats.h"
#include "replay/session.h"
#include "sql/row_source.h"

namespace sonde::sql {

/// Columns before the fields: "sample" (samples.id), "time" (ns), "common_cpu", "common_pid",
/// "common_tid", "common_comm". A field of such a name is "field_NAME". `session` and `formats`
/// must outlive the tables.
[[nodiscard]] std::vector<std::unique_ptr<RowSource>> tracepoint_tables(
    const Session& session, const TraceFormats& formats);

}  // namespace sonde::sql
