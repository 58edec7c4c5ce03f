// Workload: the command that is recorded. It is forked immediately, so that events can be opened on
// it, and held before its exec until `start`.
//
//   Workload workload = TRY(Workload::fork({"sleep", "1"}));
//   ... open events on workload.pid() ...
//   workload.start();
//   ... record until SIGCHLD, then workload.reap(false) ...
//
// If the recorder dies before `start`, the child ends without running anything.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class Workload {
 public:
  /// kFailed for what cannot be executed. `quiet_stdout`: the recording goes to our stdout, so the
  /// command's output goes to stderr.
  static Result<Workload> fork(const std::vector<std::string>& command, bool quiet_stdout);

  Workload(Workload&&) noexcept;
  Workload& operator=(Workload&&) = delete;
  /// Ends a child that was never started.
  ~Workload();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The command's first word.
  [[nodiscard]] const std::string& name() const { return name_; }
  void start();
  /// Readable once the exec has succeeded or failed.
  [[nodiscard]] int exec_fd() const { return exec_status_.get(); }
  /// The errno of a failed exec. Waits for the exec.
  std::optional<int> exec_error();
  /// The child's wait status if it has ended; with `block`, waits for that.
  std::optional<int> reap(bool block);
  /// Resource usage of the child and the children it waited for, once it was reaped.
  [[nodiscard]] const rusage& usage() const { return usage_; }
  void signal(int number) const;

 private:
  Workload() = default;
  pid_t pid_ = -1;
  std::string name_;
  Fd go_;
  Fd exec_status_;
  bool started_ = false;
  std::optional<int> status_;
  rusage usage_{};
};

/// A wait status as a shell would give it: the exit status, or 128 + the signal number.
int shell_status(int wait_status);

}  // namespace sonde
