// What the kernel says that each event lost (PERF_FORMAT_LOST): read when a recording ends, and
// written into it as LOST_SAMPLES records.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/sys.h"
#include "capture/capture_event.h"

namespace sonde {

/// Appends a record for each event that lost samples; gives the sum.
uint64_t read_lost_counts(Sys& sys, const std::vector<CaptureEvent>& events, ByteBuilder& out);

/// The lost count of event `id` in what read(2) gave for an event with `read_format`.
uint64_t lost_in_values(Bytes values, uint64_t read_format, uint64_t id);

}  // namespace sonde
