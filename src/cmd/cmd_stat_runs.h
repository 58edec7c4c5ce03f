// StatRuns: runs of what `stat` measures, one after the other, with what stands around each of them
// (--pre, --sync, --post).
//
//   StatRuns runs(options, env, signals);
//   CountOutcome outcome = TRY(runs.once(options.count, {}));
//   std::vector<EventReadings> counts = runs.read(outcome);
//   TRY(runs.after());
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "analysis/counted_event.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/count_run.h"
#include "cmd/cmd_stat_flags.h"

namespace sonde {

class StatRuns {
 public:
  StatRuns(const StatOptions& options, Env& env, SignalQueue& signals)
      : options_(options), env_(env), signals_(signals) {}

  /// Called on the way, where they are set: when the counters are open, and at every interval with
  /// the time since the start.
  struct Steps {
    std::function<Result<>()> opened = nullptr;
    std::function<Result<>(uint64_t)> interval = nullptr;
  };
  /// `count` has to outlive the run: until the next one, or the end of this object.
  Result<CountOutcome> once(const CountOptions& count, const Steps& steps);
  /// What belongs behind a run, when its counters were read.
  Result<> after() { return run_shell(options_.post); }

  /// Of the last run.
  [[nodiscard]] CounterSet& counters() { return run_->counters(); }
  /// The counters as they are now; events that are times of the tool are filled in.
  std::vector<EventReadings> read(const CountOutcome& so_far);
  [[nodiscard]] const std::vector<CountedEvent>& events() const { return events_; }

 private:
  Result<> run_shell(const std::string& command);

  const StatOptions& options_;
  Env& env_;
  SignalQueue& signals_;
  std::unique_ptr<CountRun> run_;
  std::vector<CountedEvent> events_;
};

}  // namespace sonde
