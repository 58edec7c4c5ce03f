// MeasuredCommand: what runs while BPF programs or the kernel count: a command, or, if none was
// given, a wait until the user interrupts.
//
//   MeasuredCommand measured = TRY(MeasuredCommand::fork(command, env));  // it does not run yet
//   … open and enable what counts …
//   int status = TRY(measured.run());
//   … print what was counted …
//                          // destroyed: waits for a command that goes on
//                          (capture/control/run_end.h)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "capture/control/run_end.h"
#include "capture/control/signal_queue.h"
#include "capture/control/workload.h"

namespace sonde {

class MeasuredCommand {
 public:
  /// Empty: no command. `env` must outlive the result.
  static Result<MeasuredCommand> fork(const std::vector<std::string>& command, Env& env);

  /// Completes the set of tasks that programs follow. If no threads were requested, and not
  /// `anything_else` (all CPUs, some CPUs), it is the command alone, and its exec enables them.
  void choose_tasks(bool anything_else, FollowedTasks& tasks) const;

  /// Lets the command go and waits for its end; returns its exit status as a shell does. The
  /// command gets the signal that interrupts; if it does not end, the measurement does, with 128 +
  /// that signal. Without a command, the signal ends the wait, with 0. kNotFound if it cannot be
  /// run.
  Result<int> run();
  /// The same; meanwhile `turn` is called every `period_ms`.
  Result<int> run(int period_ms, const std::function<void()>& turn);
  /// The same; `turn` says after how many ms it is to be called again (less than 0: never). If it
  /// says nothing, the measurement is over: the command gets SIGTERM, and the result is 0.
  Result<int> run_timed(const std::function<std::optional<int>()>& turn);

 private:
  MeasuredCommand(SignalQueue signals, Env& env) : env_(&env), signals_(std::move(signals)) {}
  Result<> start();
  /// The result, once the command has ended or, without one, a signal ends the wait.
  std::optional<int> look();
  void wait(int ms) const;

  Env* env_;
  SignalQueue signals_;
  std::optional<Workload> workload_;
  int ended_by_ = 0;             // signal
  std::unique_ptr<RunEnd> end_;  // once the command was asked to end
};

}  // namespace sonde
