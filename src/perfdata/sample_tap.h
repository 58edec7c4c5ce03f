// SampleTap: takes samples at the first walk over a file, while their bytes are in the processor's
// cache. For sums that need every sample once and nothing of it afterwards.
#pragma once

#include <cstddef>

#include "perfdata/record.h"

namespace sonde {

class EventTable;

class SampleTap {
 public:
  virtual ~SampleTap() = default;
  /// Before anything else. False: it does not want the samples of this recording.
  virtual bool begin(const EventTable& events) = 0;
  /// Before the first sample. Each part is filled by one thread; together, in their order, they
  /// have the samples in the order of the file.
  virtual void set_parts(size_t parts) = 0;
  /// Whether there is room for more. Asked once in a while: what comes in between is taken.
  [[nodiscard]] virtual bool wants_more(size_t part) = 0;
  /// The record is valid during the call only.
  virtual void take(size_t part, const RecordView& sample) = 0;
  /// What a part was given were no samples.
  virtual void drop(size_t part) = 0;
};

}  // namespace sonde
