// RecordSession: one recording that a daemon runs, `record --control=fifo:control,ack …` in a
// directory of its own, and what is said to it through the two FIFOs there.
//
// If the daemon dies, the recording gets SIGTERM and ends regularly.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/error.h"
#include "daemon/daemon_config.h"
#include "daemon/paths.h"

namespace sonde {

class RecordSession {
 public:
  /// `tool`: the name that the process gets, "sonde" or "perf". Errors are those of making its
  /// directory and FIFOs and of starting a process; what the recording itself cannot do shows in
  /// its end and its output.
  static Result<RecordSession> start(const DaemonSession& session, const DaemonPaths& daemon,
                                     const std::string& tool);

  [[nodiscard]] const DaemonSession& wanted() const { return wanted_; }
  [[nodiscard]] const SessionPaths& paths() const { return paths_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] long minutes_up() const;

  /// Whether it answers within this time.
  [[nodiscard]] bool ping(std::chrono::milliseconds patience) const;
  /// Asks it to end: through its FIFO, or by SIGTERM if it does not read that yet.
  void ask_to_end() const;
  void signal(int number) const;
  /// Its wait status, once it has ended.
  std::optional<int> reap();
  /// The first line that it wrote, shortened: mostly why it ended.
  [[nodiscard]] std::string first_line() const;
  /// Removes its FIFOs, once it has ended. Recordings and output remain.
  void clean_up() const;

 private:
  RecordSession(DaemonSession wanted, SessionPaths paths)
      : wanted_(std::move(wanted)), paths_(std::move(paths)) {}
  [[noreturn]] void become_record(const std::string& tool, pid_t daemon) const;

  DaemonSession wanted_;
  SessionPaths paths_;
  pid_t pid_ = -1;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

/// "exited, status=1" or "killed (signal 9)".
std::string how_it_ended(int wait_status);

}  // namespace sonde
