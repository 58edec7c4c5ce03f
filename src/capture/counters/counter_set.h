// CounterSet: the opened counters of one run: the command waiting to start, the events on their
// CPUs and threads, and reading them all.
//
//   CounterSet counters = TRY(CounterSet::open(options, env));
//   counters.start();                         // what is not switched on by the command's exec
//   ...
//   std::vector<EventReadings> now = counters.read();
#pragma once

#include <optional>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "capture/counters/count_options.h"
#include "capture/counters/counter_reading.h"
#include "capture/opening/syscall_family.h"
#include "capture/opening/task_counters.h"
#include "capture/recorders/capture_setup.h"

namespace sonde {

class CounterSet {
 public:
  /// The command is forked and held. Events that the machine does not have are marked and are not
  /// an error; other refusals are, with the texts of open_error.h.
  static Result<CounterSet> open(const CountOptions& options, Env& env);

  [[nodiscard]] const Target& target() const { return capture_.target; }
  [[nodiscard]] const std::vector<CaptureEvent>& events() const { return capture_.events; }
  [[nodiscard]] std::optional<Workload>& workload() { return capture_.workload; }
  /// Switches all counters on or off.
  void set_enabled(bool on);
  /// Switches one event; false if none has that name.
  bool set_enabled(std::string_view name, bool on);
  /// For code that writes the counts to a file.
  [[nodiscard]] const Capture& capture() const { return capture_; }

  /// One entry per event. A counter that cannot be read yields zero for all three numbers.
  std::vector<EventReadings> read();

  /// Asks the kernel for the ids of all counters.
  Result<> fetch_ids();

  /// Closes the counters; slow ones are closed in the background.
  void close();
  /// Closes them synchronously, which is quick if another set holds the same events open.
  void release();

 private:
  CounterSet(Capture capture, std::optional<SyscallFamily> family,
             std::optional<TaskCounters> task_counters, Env& env)
      : capture_(std::move(capture)),
        family_(std::move(family)),
        task_counters_(std::move(task_counters)),
        env_(&env) {}
  void report_what_was_lost();
  void read_group(size_t leader, std::vector<EventReadings>& all);
  [[nodiscard]] bool waits_for_its_cpu(const CaptureEvent& event) const;
  void read_alone(size_t event, std::vector<EventReadings>& all);

  Capture capture_;
  std::optional<SyscallFamily> family_;
  std::optional<TaskCounters> task_counters_;
  Env* env_;
  std::vector<uint64_t> buffer_;
};

}  // namespace sonde
