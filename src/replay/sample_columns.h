// The output of a replay, as plain columns, and the filter for its input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/string_pool.h"
#include "perfdata/read/lost_tally.h"
#include "perfdata/records/sample.h"
#include "replay/column.h"
#include "replay/frames/frame_table.h"

namespace sonde {

/// The position of a record, to decode what the columns don't keep.
struct RecordRef {
  uint32_t block;   // index into Recording::blocks()
  uint32_t offset;  // of the header inside the block
};

/// Every column has one entry per sample, except that `chain` is empty if chains are not wanted,
/// and the columns marked with a star are empty if sums are enough. If samples are counted by
/// place, there is one entry per event and frame that had samples, only in the columns marked with
/// a percent sign.
struct SampleColumns {
  Column<uint32_t> event;   // % EventId; see Column for the value of unset entries
  Column<uint64_t> time;    // * ns; if samples carry no time, their rank in the file
  Column<uint32_t> pid;     // *
  Column<uint32_t> tid;     // *
  Column<uint32_t> cpu;     // * UINT32_MAX if not recorded
  Column<uint64_t> period;  // %
  Column<uint64_t> weight;
  Column<StringId> comm;
  Column<FrameId> leaf;        // % the sampled ip itself
  Column<ChainId> chain;       // invalid without a call chain
  Column<uint8_t> cpu_mode;    // * of the record
  Column<uint8_t> was_copied;  // 1: the user part of the chain comes from a copied stack
  Column<RecordRef> record;    // *
  Column<uint64_t> count;      // % samples; empty if each entry is one

  [[nodiscard]] size_t size() const { return event.size(); }
  [[nodiscard]] uint64_t count_of(size_t i) const { return count.empty() ? 1 : count[i]; }
  [[nodiscard]] ChainId chain_of(size_t sample) const {
    return chain.empty() ? ChainId() : chain[sample];
  }
};

/// A span of the recording's clock; both ends belong to it.
struct TimeRange {
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
  [[nodiscard]] bool has(uint64_t time_ns) const { return from_ns <= time_ns && time_ns <= to_ns; }
};
/// Whether a time is in one of the ranges. Without ranges, it is.
[[nodiscard]] inline bool is_in(std::span<const TimeRange> ranges, uint64_t time_ns) {
  return ranges.empty() ||
         std::ranges::any_of(ranges, [=](const TimeRange& range) { return range.has(time_ns); });
}

/// What to drop before anything is resolved. Empty lists mean no restriction.
struct SampleFilter {
  std::vector<uint32_t> pids, tids, cpus;
  std::vector<TimeRange> times;
  [[nodiscard]] bool empty() const {
    return pids.empty() && tids.empty() && cpus.empty() && times.empty();
  }
  /// `time`: ns, of the sample.
  [[nodiscard]] bool passes(const SampleId& who, uint64_t time) const;
};

/// Totals of the input, for headers, --stats and the conservation law.
struct ReplayCounts {
  std::vector<uint64_t> records_by_type;  // kernel types 0 … 127, perf's own included
  uint64_t unknown_records = 0;
  uint64_t samples = 0;
  uint64_t filtered = 0;
  LostCounts lost;
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;  // of samples
};

}  // namespace sonde
