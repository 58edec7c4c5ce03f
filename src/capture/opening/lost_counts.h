// How many samples each event lost according to the kernel (PERF_FORMAT_LOST): read when a
// recording ends, and written to it as LOST_SAMPLES records.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/sys.h"
#include "capture/opening/capture_event.h"

namespace sonde {

/// Appends a record for each event that lost samples; returns the total.
uint64_t read_lost_counts(Sys& sys, const std::vector<CaptureEvent>& events, ByteBuilder& out);

/// The lost count of event `id` in the result of read(2) on an event with `read_format`.
uint64_t lost_in_values(Bytes values, uint64_t read_format, uint64_t id);

}  // namespace sonde
