// TaskCounters: events that BPF programs count using the CPUs' counters: for the measured tasks
// (`stat --bpf-counters`, the modifier b; bpf/task_counts.h), or while other BPF programs run
// (`stat -b ID`; bpf/program_counts.h).
//
// The first is for tasks only: whole CPUs are counted directly by their counters. Events with a
// restriction of their own (a filter, a cgroup, specific CPUs) are opened the ordinary way, and so
// is everything if the kernel or the privileges refuse; `said` has the reason for -v. Counters that
// another tool has open for the same events are shared (bpf/shared_counters.h). The second has no
// ordinary way: a refusal is an error.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/env.h"
#include "bpf/program_counts.h"
#include "bpf/task_counts.h"
#include "capture/counters/count_options.h"
#include "capture/counters/counter_reading.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"

namespace sonde {

class TaskCounters {
 public:
  /// Marks the events that it takes (by_task_counters) and, as unsupported, those of them that the
  /// machine does not have.
  static Result<std::optional<TaskCounters>> open(const CountOptions& options, const Target& target,
                                                  std::vector<CaptureEvent>& events, Env& env,
                                                  std::string& said);

  void set_enabled(bool on);
  void catch_up();
  /// Reads the event at `index`, which must be one of those that were taken.
  void read(size_t index, EventReadings& readings) const;
  [[nodiscard]] uint64_t tasks_not_followed() const;
  void close(Sys& sys);

 private:
  using Counts = std::variant<TaskCounts, ProgramCounts>;
  TaskCounters(Counts counts, std::vector<size_t> members, std::vector<CaptureEvent> on_cpus)
      : counts_(std::move(counts)), members_(std::move(members)), on_cpus_(std::move(on_cpus)) {}
  /// `copies`: the counters on the CPUs, to be closed by the caller on failure; those that another
  /// tool has open are marked by_task_counters.
  static Result<Counts> open_counts(const CountOptions& options, const Target& target,
                                    const std::vector<CaptureEvent>& events,
                                    const std::vector<size_t>& members, Env& env,
                                    std::vector<CaptureEvent>& copies);

  Counts counts_;
  std::vector<size_t> members_;        // the events that it counts, by index; their position is the
                                       // program's number of the event
  std::vector<CaptureEvent> on_cpus_;  // their counters on the CPUs
};

}  // namespace sonde
