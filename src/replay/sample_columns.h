// What a replay produces, as plain columns, and what it may leave out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/large_vector.h"
#include "base/string_pool.h"
#include "perfdata/sample.h"
#include "replay/frame_table.h"

namespace sonde {

/// Where a record lies, to decode again what the columns don't keep.
struct RecordRef {
  uint32_t block;   // index into Recording::blocks()
  uint32_t offset;  // of the header inside the block
};

/// One entry per sample in every column.
struct SampleColumns {
  LargeVector<uint32_t> event;  // EventId
  LargeVector<uint64_t> time;   // ns; where samples carry no time, their rank in the file
  LargeVector<uint32_t> pid;
  LargeVector<uint32_t> tid;
  LargeVector<uint32_t> cpu;  // UINT32_MAX where not recorded
  LargeVector<uint64_t> period;
  LargeVector<uint64_t> weight;
  LargeVector<StringId> comm;
  LargeVector<FrameId> leaf;      // the sampled ip itself
  LargeVector<ChainId> chain;     // invalid without a call chain
  LargeVector<uint8_t> cpu_mode;  // of the record
  LargeVector<RecordRef> record;

  [[nodiscard]] size_t size() const { return event.size(); }
};

/// What to leave out before anything is resolved. Empty lists mean no restriction.
struct SampleFilter {
  std::vector<uint32_t> pids, tids, cpus;
  struct TimeRange {
    uint64_t from_ns, to_ns;
  };  // inclusive
  std::vector<TimeRange> times;
};

/// Totals of the input, for headers, --stats and the conservation law.
struct ReplayCounts {
  std::vector<uint64_t> records_by_type;  // kernel types 0 … 127, perf's own included
  uint64_t unknown_records = 0;
  uint64_t samples = 0;
  uint64_t filtered = 0;
  uint64_t lost_events = 0;                               // sum of LOST records
  uint64_t lost_samples = 0;                              // sum of LOST_SAMPLES records
  std::vector<uint64_t> lost_by_event;                    // by EventId
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;  // of samples
};

}  // namespace sonde
