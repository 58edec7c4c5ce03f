// SignalQueue: the signals that control a recording, read from a descriptor instead of handled.
//
// While it exists, SIGINT, SIGTERM, SIGCHLD and SIGUSR2 are blocked in this thread and in those
// that it starts, and queued in the descriptor; SIGPIPE is ignored, so that a reader that goes away
// is a write error. The previous mask is restored at the end.
#pragma once

#include <csignal>
#include <optional>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class SignalQueue {
 public:
  static Result<SignalQueue> create();
  SignalQueue(SignalQueue&& other) noexcept;
  SignalQueue& operator=(SignalQueue&&) = delete;
  ~SignalQueue();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The next pending signal.
  std::optional<int> next();

 private:
  SignalQueue() = default;
  Fd fd_;
  sigset_t before_{};
  struct sigaction pipe_before_{};
};

}  // namespace sonde
