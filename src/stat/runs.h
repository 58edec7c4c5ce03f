// StatRuns: consecutive runs of what `stat` measures, each with the actions around it (--pre,
// --sync, --post).
//
//   StatRuns runs(options, env, signals);
//   CountOutcome outcome = TRY(runs.once(options.count, {}));
//   std::vector<EventReadings> counts = runs.read(outcome);
//   TRY(runs.after());
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "analysis/counts/counted_event.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/counters/count_run.h"
#include "stat/options.h"

namespace sonde {

class StatRuns {
 public:
  StatRuns(const StatOptions& options, Env& env, SignalQueue& signals)
      : options_(options), env_(env), signals_(signals) {}

  /// Called during a run, if set: when the counters are open, and at every interval with the time
  /// since the start.
  struct Steps {
    std::function<Result<>()> opened = nullptr;
    std::function<Result<>(uint64_t)> interval = nullptr;
  };
  /// `count` must outlive the run, which lasts until the next one or the end of this object.
  Result<CountOutcome> once(const CountOptions& count, const Steps& steps);
  /// What follows a run, once its counters have been read.
  Result<> after() { return run_shell(options_.post); }

  /// Of the last run.
  [[nodiscard]] CounterSet& counters() { return run_->counters(); }
  /// The current counters; events that are the tool's own times are filled in.
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
