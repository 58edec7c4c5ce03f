// MeasuredCommand: what runs while BPF programs or the kernel count: a command, or, if none was
// given, a wait until the user interrupts.
//
//   MeasuredCommand measured = TRY(MeasuredCommand::fork(command));  // it does not run yet
//   … open and enable what counts …
//   int status = TRY(measured.run());
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "capture/control/signal_queue.h"
#include "capture/control/workload.h"

namespace sonde {

class MeasuredCommand {
 public:
  /// Empty: no command.
  static Result<MeasuredCommand> fork(const std::vector<std::string>& command);

  /// Completes the set of tasks that programs follow. If no threads were requested, and not
  /// `anything_else` (all CPUs, some CPUs), it is the command alone, and its exec enables them.
  void choose_tasks(bool anything_else, FollowedTasks& tasks) const;

  /// Lets the command go and waits for its end; returns its exit status as a shell does. The
  /// command gets the signals that interrupt; without a command they end the wait, with 0.
  /// kNotFound if it cannot be run.
  Result<int> run();
  /// The same; meanwhile `turn` is called every `period_ms`.
  Result<int> run(int period_ms, const std::function<void()>& turn);
  /// The same; `turn` says after how many ms it is to be called again (less than 0: never). If it
  /// says nothing, the measurement is over: the command gets SIGTERM, and the result is 0.
  Result<int> run_timed(const std::function<std::optional<int>()>& turn);

 private:
  MeasuredCommand(SignalQueue signals, std::string name)
      : signals_(std::move(signals)), name_(std::move(name)) {}
  Result<> start();
  /// The result, once the command has ended or, without one, a signal ends the wait.
  std::optional<int> look();

  SignalQueue signals_;
  std::string name_;
  std::optional<Workload> workload_;
};

}  // namespace sonde
