// OffCpuRecorder: what BPF programs measure of waits (bpf/off_cpu.h), as samples of the event
// offcpu-time (off_cpu_event.h).
//
//   IP, CALLCHAIN   where the thread waited, from the scheduler's entry on
//   TIME            when the wait ended; of waits that were added up: when the recording did
//   PERIOD          ns off the CPU
//   RAW             perfdata/off_cpu_sample.h
//
// Times are those of CLOCK_MONOTONIC, which the recording must use.
#pragma once

#include <optional>

#include "base/env.h"
#include "bpf/off_cpu.h"
#include "capture/capture_setup.h"

namespace sonde {

class OffCpuRecorder {
 public:
  /// `capture` has the event, and outlives this. Where it belongs to a command and is not delayed,
  /// measuring begins when that is executed.
  static Result<OffCpuRecorder> open(const Capture& capture, const RecordOptions& options);

  void set(OffCpu::Phase phase) { waits_.set(phase); }
  /// Samples of long waits that have ended by now.
  void write_long(ByteBuilder& out);
  /// All the rest, once, when it is over.
  Result<> write_rest(ByteBuilder& out);
  /// Lines about what is missing.
  void say_lost(const RecordOptions& options, Env& env) const;

 private:
  OffCpuRecorder(OffCpu waits, const CaptureEvent& event, const RecordOptions& options);
  void write(const OffCpu::Wait& wait, uint64_t now_ns, ByteBuilder& out);

  OffCpu waits_;
  const CaptureEvent& event_;
  bool kernel_chains_, user_chains_;
  uint64_t schedule_begin_ = 0, schedule_end_ = 0;  // the function __schedule
};

}  // namespace sonde
