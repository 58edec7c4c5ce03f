// Samples that carry counter values (PERF_SAMPLE_READ: groups with :S, and the like) stand for one
// sample of every counter they carry. Its period is what the counter has grown by since it was last
// read; a counter that has not grown gives none.
#pragma once

#include <tsl/robin_map.h>

#include "base/number_hash.h"
#include "perfdata/recording.h"
#include "replay/sample_columns.h"

namespace sonde {

/// The last value of every counter, by its id.
using CounterValues = tsl::robin_map<uint64_t, uint64_t, NumberHash>;

/// Whether an event of the recording is of that kind.
[[nodiscard]] bool has_read_values(const EventTable& events);

/// Replaces such rows by one row per counter, in file order. Nothing happens where no event records
/// values. `last` is where the samples before these left the counters.
void spread_read_values(const Recording& recording, SampleColumns& samples, CounterValues& last);

}  // namespace sonde
