// SignalQueue: the signals that steer a recording, as something to read instead of handlers.
//
// While it lives, SIGINT, SIGTERM, SIGCHLD and SIGUSR2 are blocked in this thread and in those that
// it starts, and wait in the descriptor; SIGPIPE is ignored, so that a reader that goes away is an
// error of write. The mask that was before comes back at the end.
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
  /// The next signal that waits.
  std::optional<int> next();

 private:
  SignalQueue() = default;
  Fd fd_;
  sigset_t before_{};
  struct sigaction pipe_before_{};
};

}  // namespace sonde
