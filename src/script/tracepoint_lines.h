// The lines of `script` for recordings of tracepoints without call chains: everything on a line
// except the thread's name is in the sample itself. So nothing is resolved and no per-sample state
// is kept: two scans the file, the first for names, the second in time order, in bounded
// memory. The lines are identical to SamplePrinter's.
#pragma once

#include "base/error.h"
#include "base/loss.h"
#include "base/sink.h"
#include "perfdata/read/file_scan.h"
#include "script/fields.h"

namespace sonde {

/// Whether the recording is of this kind and only these fields of its events are shown: thread name
/// and tid, CPU, time, event and trace. Also false if a print format needs symbols.
[[nodiscard]] bool is_of_plain_tracepoints(const FileScan& scan, std::span<const FieldSet> fields);

/// `names` and `samples` are two scans the same recording, each at its start. Stops early if
/// `out` can no longer be written.
void write_tracepoint_lines(FileScan& names, FileScan& samples, LossLedger& losses, Sink& out);

}  // namespace sonde
