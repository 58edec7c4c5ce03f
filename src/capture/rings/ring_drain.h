// Draining: moves records from rings to a stream, passing them to the scan. Used by the recorder
// itself and by the threads of --threads.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "capture/recorders/record_options.h"
#include "capture/recorders/record_scan.h"
#include "capture/rings/ring_set.h"
#include "capture/rings/stream_writer.h"
#include "capture/unwinding/chain_joiner.h"

namespace sonde {

class RingDrain {
 public:
  RingDrain(RecordScan& scan, const RecordOptions& options) : scan_(scan), options_(options) {}

  /// From now on user chains are joined with their samples (--call-graph bpf).
  void set_joiner(ChainJoiner* joiner) { joiner_ = joiner; }

  /// Writes what has arrived in a forward ring; returns how many bytes. With `all`, even less than
  /// --mmap-flush is written.
  Result<size_t> forward(CaptureRing& ring, StreamWriter& stream, bool all);
  /// Writes the contents of a ring in overwrite mode. Output must be paused.
  Result<bool> backward(CaptureRing& ring, StreamWriter& stream);

 private:
  void move_near(const CaptureRing& ring) const;

  RecordScan& scan_;
  const RecordOptions& options_;
  ChainJoiner* joiner_ = nullptr;
};

}  // namespace sonde
