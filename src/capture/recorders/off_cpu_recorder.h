// OffCpuRecorder: writes the waits that BPF programs measure (bpf/off_cpu.h) as samples of the
// event offcpu-time (off_cpu_event.h).
//
//   IP, CALLCHAIN   where the thread waited, starting at the scheduler's entry function
//   TIME            when the wait ended; for waits that were added up, when the recording did
//   PERIOD          ns off the CPU
//   RAW             perfdata/records/off_cpu_sample.h
//
// and, if asked for, samples of who ended them (offcpu-waker), preceded by COMM records with their
// names, because the wakers may belong to processes that are not recorded.
//
// Times are CLOCK_MONOTONIC, which the recording must use.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/env.h"
#include "bpf/off_cpu.h"
#include "capture/recorders/capture_setup.h"
#include "perfdata/records/off_cpu_sample.h"

namespace sonde {

class OffCpuRecorder {
 public:
  /// `capture` has the event, and must outlive this. If it belongs to a command and there is no
  /// delay, measuring begins at the command's exec.
  static Result<OffCpuRecorder> open(const Capture& capture, const RecordOptions& options);

  void set(FollowPhase phase) { waits_.set(phase); }
  /// Writes samples of long waits that have ended so far.
  void write_long(ByteBuilder& out);
  /// Writes all the rest, once, at the end.
  Result<> write_rest(ByteBuilder& out);
  /// Prints lines about what is missing.
  void report_lost(const RecordOptions& options, Env& env) const;

 private:
  OffCpuRecorder(OffCpu waits, const CaptureEvent& event, const CaptureEvent* waker_event,
                 const RecordOptions& options);
  void write(const OffCpu::Wait& wait, uint64_t now_ns, ByteBuilder& out);
  void write_waker(const OffCpu::Waker& waker, const WakerNote& note, uint64_t time_ns, uint64_t ns,
                   ByteBuilder& out);
  /// A kernel function. The frames before the entry function of a kernel stack belong to the
  /// measuring.
  struct Function {
    uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] static std::span<const uint64_t> from(Function entry,
                                                      std::span<const uint64_t> kernel);
  /// Also sets the sample's IP.
  void add_stacks(std::span<const uint64_t> kernel, std::span<const uint64_t> user, Sample& sample,
                  ByteBuilder& chain) const;

  OffCpu waits_;
  const CaptureEvent& event_;
  const CaptureEvent* waker_event_;  // null: not asked for
  bool kernel_chains_, user_chains_;
  Function schedule_, wake_up_;
  uint64_t wakers_ = 0;
  std::set<std::pair<uint32_t, std::string>> named_;  // threads that have a COMM record
};

}  // namespace sonde
