// What `--header`, `--header-only` and `-I` print: the facts about the file and its feature
// sections, as perf words them.
#pragma once

#include "base/sink.h"
#include "perfdata/read/recording.h"

namespace sonde {

/// `full` (-I) also shows the topology of CPUs, caches and memory; otherwise a line says that they
/// are there.
void write_header_text(Sink& out, const Recording& recording, bool full);

}  // namespace sonde
