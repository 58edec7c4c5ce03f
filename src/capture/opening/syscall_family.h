// SyscallFamily: the events syscalls:sys_enter_* and sys_exit_* of one `stat`, all counted by a
// single BPF program instead of hundreds of perf events, each of which would take the kernel about
// 35 ms to close and add one more handler to every system call.
//
// Only events that ask for nothing but "how often" qualify: no filter, no group, no cgroup, no
// modifiers. If there are only a few of them, or the kernel or the privileges refuse, there is no
// family and the events are opened like any others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bpf/syscall_counts.h"
#include "capture/counters/count_options.h"
#include "capture/counters/counter_reading.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"

namespace sonde {

class SyscallFamily {
 public:
  /// Marks the events that it takes (is_in_family). `said` gets a line for -v: what it does, or why
  /// it does not. Nothing if the events have to be opened one by one.
  static std::optional<SyscallFamily> open(const CountOptions& options, const Target& target,
                                           std::vector<CaptureEvent>& events, std::string& said);

  void set_enabled(bool on) { counts_.set_enabled(on); }
  [[nodiscard]] uint64_t enabled_ns() const { return counts_.enabled_ns(); }
  /// Reads an event of the family; `readings` has its CPUs and room for all values. `time_ns` is
  /// one enabled_ns() for all.
  void read(const CaptureEvent& event, uint64_t time_ns, EventReadings& readings) const;
  [[nodiscard]] uint64_t tasks_not_followed() const { return counts_.tasks_not_followed(); }

 private:
  explicit SyscallFamily(SyscallCounts counts) : counts_(std::move(counts)) {}
  SyscallCounts counts_;
};

}  // namespace sonde
