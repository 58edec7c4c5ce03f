// The samples of a recording in time order, a part at a time, in little memory.
//
// Records are out of order, but by little. A first walk over the recording notes the earliest time
// in each block. Blocks are then sorted in the order of those times, some at a time, and whatever
// is older than all blocks that are left can be given:
//
//   blocks   |3 1 4|  |2 6 5|  |7 9 8|        taken: the first two; the third begins at 7
//   given    1 2 3 4 5 6                      kept: nothing
//
// Unlike sorting by rounds this gives the order of sorting everything, whatever the recorder did; a
// recording that is in no order at all merely takes more memory, 16 bytes per sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfdata/read/recording.h"
#include "replay/passes/sideband_pass.h"
#include "replay/sample_columns.h"

namespace sonde {

/// The time is in ns; if samples carry none, it is their rank in the file.
struct TimedSample {
  uint64_t time;
  RecordRef where;
};

class TimeBatches {
 public:
  struct Limits {
    size_t blocks = 4;                 // walked at a time
    size_t samples = size_t{1} << 15;  // given at a time
  };
  /// Both must outlive this object.
  TimeBatches(const Recording& recording, const SidebandResult& sideband, Limits limits);
  TimeBatches(const Recording& recording, const SidebandResult& sideband)
      : TimeBatches(recording, sideband, Limits()) {}

  /// The next samples, by time and place in the file; damaged ones have the time of those before
  /// them. Empty at the end. Valid until the next call.
  std::span<const TimedSample> next();
  /// Whether next() has given everything.
  [[nodiscard]] bool at_end() const { return given_ == ready_ && taken_ == starts_.size(); }

 private:
  struct Start {
    uint64_t time;
    uint32_t block;
  };
  void take_blocks();
  void release(size_t block) const;

  const Recording& recording_;
  const SidebandResult& sideband_;
  Limits limits_;
  std::vector<Start> starts_;                     // of blocks with samples, by time
  size_t taken_ = 0;                              // of them
  size_t released_ = 0;                           // of them: their pages are not mapped
  std::vector<std::vector<TimedSample>> walked_;  // buffers, one per block walked at a time
  std::vector<TimedSample> pending_;              // sorted
  size_t given_ = 0, ready_ = 0;                  // positions in it
};

}  // namespace sonde
