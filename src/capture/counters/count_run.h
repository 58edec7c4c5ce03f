// CountRun: one run of `stat`. Starts the command, waits for its end (or Ctrl-C, the end of the
// tasks, --timeout), reads the counters at every interval and obeys --control meanwhile.
//
//   CountRun run(options, env, signals);
//   TRY(run.open());
//   CountOutcome outcome =
//       TRY(run.measure([&](uint64_t since_start_ns) { ... counters().read() }));
//   std::vector<EventReadings> counts = run.counters().read();
#pragma once

#include <functional>
#include <optional>

#include "base/env.h"
#include "base/error.h"
#include "capture/control/control_channel.h"
#include "capture/control/control_commands.h"
#include "capture/control/delay_schedule.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/counters/count_options.h"
#include "capture/counters/counter_set.h"
#include "capture/rings/poller.h"

namespace sonde {

/// How a run ended.
struct CountOutcome {
  uint64_t elapsed_ns = 0;
  uint64_t user_ns = 0, system_ns = 0;  // of the command and the children it waited for
  std::optional<int> wait_status;       // of the command; nothing if there was none or it goes on
  int interrupted_by = 0;               // the signal that ended the measurement
};

class CountRun {
 public:
  CountRun(const CountOptions& options, Env& env, SignalQueue& signals)
      : options_(options), env_(env), signals_(signals) {}

  /// Forks the command and opens the counters.
  Result<> open();
  [[nodiscard]] CounterSet& counters() { return *counters_; }

  /// Runs to the end. `on_interval` is called every -I ms with the time since the start. When this
  /// returns, the counters have stopped but are still open. A command that was asked to end may go
  /// on: it is waited for when this object is destroyed.
  Result<CountOutcome> measure(const std::function<Result<>(uint64_t)>& on_interval);

 private:
  Result<> watch();
  void start();
  void on_signals();
  void begin();
  void on_delay();
  void on_control();
  Result<> on_interval_timer(const std::function<Result<>(uint64_t)>& on_interval);
  void say(std::string_view text);
  [[nodiscard]] bool tasks_are_gone() const;
  [[nodiscard]] int wait_ms() const;

  const CountOptions& options_;
  Env& env_;
  SignalQueue& signals_;
  std::optional<CounterSet> counters_;
  std::optional<Poller> poller_;
  std::optional<DelaySchedule> delay_;
  std::optional<ControlChannel> control_;
  std::optional<ControlCommands> commands_;
  Fd interval_timer_, timeout_timer_;

  uint64_t started_at_ns_ = 0, ended_at_ns_ = 0;  // without the first delay of -D
  bool has_begun_ = false;                        // that delay is over
  uint64_t intervals_ = 0;
  bool done_ = false;
  bool interval_due_ = false;
  std::optional<int> exec_error_;
  CountOutcome outcome_;
  std::optional<RunEnd> end_;  // of a command that was asked to end
};

}  // namespace sonde
