// Draining: moves records from rings to a stream, passing them to the scan. Used by the recorder
// itself and by the threads of --threads.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "capture/recorders/record_options.h"
#include "capture/recorders/record_scan.h"
#include "capture/rings/ring_set.h"
#include "capture/rings/stream_writer.h"

namespace sonde {

class RingDrain {
 public:
  RingDrain(RecordScan& scan, const RecordOptions& options) : scan_(scan), options_(options) {}

  /// Writes what has arrived in a forward ring; returns how many bytes. With `all`, even less than
  /// --mmap-flush is written.
  Result<size_t> forward(CaptureRing& ring, StreamWriter& stream, bool all);
  /// Writes the contents of a ring in overwrite mode. Output must be paused.
  Result<bool> backward(CaptureRing& ring, StreamWriter& stream);

 private:
  void move_near(const CaptureRing& ring) const;

  RecordScan& scan_;
  const RecordOptions& options_;
};

}  // namespace sonde
