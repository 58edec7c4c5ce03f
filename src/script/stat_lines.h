// The counts of a `stat record` as `script` prints them: a table that grows by a line per counter,
// CPU and thread at every round.
//
//   CPU   THREAD             VAL             ENA             RUN            TIME EVENT
//     0       -1            2730       100210064       100210064       100134398 cs
#pragma once

#include "base/sink.h"
#include "replay/session.h"

namespace sonde {

/// Whether the recording is one of counts.
bool is_stat_recording(const Session& session);
void write_stat_lines(const Session& session, Sink& out);

}  // namespace sonde
