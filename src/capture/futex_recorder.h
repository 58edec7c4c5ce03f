// FutexRecorder: what BPF programs measure of waits in futex(2) (bpf/futex_waits.h), as samples of
// the event futex-wait (perfdata/futex_sample.h): all when the recording ends, with the time of its
// end. Times are those of CLOCK_MONOTONIC, which the recording must use.
#pragma once

#include "base/env.h"
#include "bpf/futex_waits.h"
#include "capture/capture_setup.h"

namespace sonde {

class FutexRecorder {
 public:
  /// `capture` has the event, and outlives this. Where it belongs to a command and is not delayed,
  /// measuring begins when that is executed.
  static Result<FutexRecorder> open(const Capture& capture, const RecordOptions& options);

  void set(FollowPhase phase) { waits_.set(phase); }
  /// Everything, once, when it is over.
  Result<> write(ByteBuilder& out);
  /// Lines about what is missing.
  void say_lost(const RecordOptions& options, Env& env) const;

 private:
  FutexRecorder(FutexWaits waits, const CaptureEvent& event)
      : waits_(std::move(waits)), event_(event) {}

  FutexWaits waits_;
  const CaptureEvent& event_;
};

}  // namespace sonde
