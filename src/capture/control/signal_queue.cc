#include "capture/control/signal_queue.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {

Result<SignalQueue> SignalQueue::create() {
  SignalQueue queue;
  sigset_t ours;
  ::sigemptyset(&ours);
  for (int number : {SIGINT, SIGTERM, SIGCHLD, SIGUSR2}) ::sigaddset(&ours, number);
  ::pthread_sigmask(SIG_BLOCK, &ours, &queue.before_);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &queue.pipe_before_);
  queue.fd_ = Fd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!queue.fd_.valid())
    return fail(ErrorCode::kIo, "failed to create a signal descriptor: {}", std::strerror(errno));
  return queue;
}

SignalQueue::SignalQueue(SignalQueue&& other) noexcept
    : fd_(std::move(other.fd_)), before_(other.before_), pipe_before_(other.pipe_before_) {}

SignalQueue::~SignalQueue() {
  if (!fd_.valid()) return;
  // Signals still pending were meant for the recording that has just ended.
  while (next()) {
  }
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalQueue::next() {
  signalfd_siginfo info{};
  ssize_t got = ::read(fd_.get(), &info, sizeof info);
  if (got != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace sonde
