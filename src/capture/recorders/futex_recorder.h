// FutexRecorder: writes what BPF programs measure of waits in futex(2) (bpf/futex_waits.h) as
// samples of the event futex-wait (perfdata/records/futex_sample.h): all of them when the recording
// ends, timestamped with its end. Times are CLOCK_MONOTONIC, which the recording must use.
#pragma once

#include "base/env.h"
#include "bpf/futex_waits.h"
#include "capture/recorders/capture_setup.h"

namespace sonde {

class FutexRecorder {
 public:
  /// `capture` has the event, and must outlive this. If it belongs to a command and there is no
  /// delay, measuring begins at the command's exec.
  static Result<FutexRecorder> open(const Capture& capture, const RecordOptions& options);

  void set(FollowPhase phase) { waits_.set(phase); }
  /// Writes everything, once, at the end.
  Result<> write(ByteBuilder& out);
  /// Prints lines about what is missing.
  void report_lost(const RecordOptions& options, Env& env) const;

 private:
  FutexRecorder(FutexWaits waits, const CaptureEvent& event)
      : waits_(std::move(waits)), event_(event) {}

  FutexWaits waits_;
  const CaptureEvent& event_;
};

}  // namespace sonde
