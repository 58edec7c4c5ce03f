// Samples that carry counter values (PERF_SAMPLE_READ: groups with :S, and the like) stand for one
// sample of every counter they carry. Its period is what the counter has grown by since it was last
// read; a counter that has not grown gives none.
#pragma once

#include "perfdata/recording.h"
#include "replay/sample_columns.h"

namespace sonde {

/// Replaces such rows by one row per counter, in file order. Nothing happens where no event records
/// values.
void spread_read_values(const Recording& recording, SampleColumns& samples);

}  // namespace sonde
