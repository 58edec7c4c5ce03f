// AggregateRecorder: `record --aggregate`. BPF programs count the samples of each event by thread
// and call chain: StackSums (bpf/aggregation/stack_sums.h), or with --call-graph bpf the stack
// walker (capture/unwinding/kernel_unwinding.h). At the end of each window, one sample is written
// for each sum:
//
//   IP, CALLCHAIN   as every one of the samples had them
//   TIME            of the last of them
//   PERIOD          the sum of theirs
//
// Samples that find no room arrive through the rings. Times are CLOCK_MONOTONIC, which the
// recording must use. They lie up to a window before what the rings hold by then, so a round
// (FINISHED_ROUND) must not end before its window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/file.h"
#include "bpf/aggregation/stack_sums.h"
#include "capture/recorders/capture_setup.h"
#include "capture/unwinding/kernel_unwinding.h"

namespace sonde {

/// Errors: an event that cannot be summed, or whose samples hold more than a sum can say.
Result<> check_aggregated(const std::vector<CaptureEvent>& events, const SamplingOptions& sampling);

/// How a recording's samples are counted.
[[nodiscard]] StackSumOptions sum_options(const RecordOptions& options);

class AggregateRecorder {
 public:
  /// `capture` and `unwinding` must outlive this; the events must not be enabled yet. `unwinding`
  /// counts the events that it walks; null: there is none.
  static Result<AggregateRecorder> open(Sys& sys, const Capture& capture,
                                        KernelUnwinding* unwinding, const RecordOptions& options);

  /// Readable once a second, to ask is_due().
  [[nodiscard]] int fd() const { return timer_.get(); }
  /// Whether the window is over, or its maps have become so full that it should be.
  bool is_due();
  /// Ends the window: writes the samples of its sums.
  void write(ByteBuilder& out);
  /// Prints how many samples were counted.
  void report(const RecordOptions& options, Env& env) const;

 private:
  struct Summed {
    const CaptureEvent* event;
    StackSums sums;
  };
  AggregateRecorder(std::vector<Summed> events, const Capture& capture, KernelUnwinding* unwinding,
                    Fd timer, uint64_t window_ns);
  void write(StackSumWindow window, const CaptureEvent* event, ByteBuilder& out);

  std::vector<Summed> events_;
  const Capture& capture_;
  KernelUnwinding* unwinding_;
  Fd timer_;
  uint64_t window_ns_;
  uint64_t began_ns_;
  uint64_t samples_ = 0, rows_ = 0, written_ = 0;
};

}  // namespace sonde
