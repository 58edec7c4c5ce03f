// How many samples each event lost according to the kernel (PERF_FORMAT_LOST): read when a
// recording ends, and written to it as LOST_SAMPLES records.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/sys.h"
#include "capture/opening/capture_event.h"

namespace sonde {

/// Of the files of one recording: each gets what was lost since the one before.
class LostCountReader {
 public:
  /// Appends a record for each event that lost more samples; returns the total since the first
  /// call.
  uint64_t read(Sys& sys, const std::vector<CaptureEvent>& events, ByteBuilder& out);

 private:
  std::unordered_map<uint64_t, uint64_t> told_;  // by id
  uint64_t total_ = 0;
};

/// Appends a record for each event that lost samples; returns the total.
uint64_t read_lost_counts(Sys& sys, const std::vector<CaptureEvent>& events, ByteBuilder& out);

/// The lost count of event `id` in the result of read(2) on an event with `read_format`.
uint64_t lost_in_values(Bytes values, uint64_t read_format, uint64_t id);

}  // namespace sonde
