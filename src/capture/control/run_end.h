// RunEnd: the end of a run whose command may go on although it was asked to end. The results do not
// wait for the command, and nobody has to wait for ever.
//
//   workload->signal(SIGTERM);
//   RunEnd end(workload, SIGTERM, ended_by, env);
//   … complete the file, print the results …
//                                   // destroyed: waits for the command's end, takes its status
//
// While it exists, one more SIGINT or SIGTERM ends everything for certain, whatever we are doing:
// the command and all its descendants are killed, and this process dies by that signal. If it was
// no signal that ended the run, it takes two until the results are out. A signal within half a
// second of the one before is the same request: timeout(1), for one, signals a process and then its
// group.
//
// There must be a SignalQueue, so that these signals are blocked in all threads. Who takes one from
// it passes it on (`take`).
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <thread>

#include "base/env.h"
#include "base/file.h"
#include "capture/control/workload.h"

namespace sonde {

class RunEnd {
 public:
  /// `workload`, if there is one and it still runs, was asked to end by the signal `request`.
  /// `ended_by`: the signal that ended the run, or 0. `workload` and `env` must outlive this.
  RunEnd(Workload* workload, int request, int ended_by, Env& env);
  RunEnd(const RunEnd&) = delete;
  RunEnd& operator=(const RunEnd&) = delete;
  ~RunEnd();

  /// How long commands have to end before results are completed without their end.
  static constexpr int kPatienceMs = 1000;
  /// Whether the command has ended, or has had its time.
  [[nodiscard]] bool is_over() const;
  /// Waits for that.
  void wait() const;
  void take(int signal);

 private:
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] int patience_left_ms() const;
  bool wait_for_command(int ms) const;
  void watch();

  Env& env_;
  Workload* workload_;
  pid_t pid_ = -1;  // of the command; less than 0: none, or it has ended
  std::string name_;
  int request_;
  uint64_t began_ns_;
  std::mutex mutex_;
  int needed_;            // signals
  uint64_t last_ns_ = 0;  // when the last was taken
  Fd command_;            // readable when it has ended
  Fd stop_;
  std::thread watcher_;
};

}  // namespace sonde
