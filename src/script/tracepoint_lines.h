// Lines of `script` for recordings of tracepoints without call chains: everything that a line shows
// stands in its sample, but for the thread's name. So nothing is resolved and nothing per sample is
// kept: two walks over the file, the first for the names, the second in order of time, in bounded
// memory. The lines are those that SamplePrinter writes.
#pragma once

#include "base/error.h"
#include "base/loss.h"
#include "base/sink.h"
#include "perfdata/file_walk.h"
#include "script/fields.h"

namespace sonde {

/// Whether that is such a recording, and these fields of its events are shown: name and tid of the
/// thread, CPU, time, event and trace. False as well where a print format wants symbols.
[[nodiscard]] bool is_of_plain_tracepoints(const FileWalk& walk, std::span<const FieldSet> fields);

/// `names` and `samples` are two walks over one recording, each at its start. Stops early where
/// `out` cannot be written any more.
void write_tracepoint_lines(FileWalk& names, FileWalk& samples, LossLedger& losses, Sink& out);

}  // namespace sonde
