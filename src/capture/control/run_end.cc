#include "capture/control/run_end.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "capture/control/process_tree.h"

namespace sonde {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;
constexpr uint64_t kSameRequestNs = 500 * kMillisecondNs;

[[noreturn]] void die_by(int number) {
  (void)std::signal(number, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  (void)std::raise(number);
  ::_exit(128 + number);  // the first process of a container is not ended by signals
}

}  // namespace

RunEnd::RunEnd(Workload* workload, int request, int ended_by, Env& env)
    : env_(env),
      workload_(workload),
      request_(request),
      began_ns_(monotonic_ns()),
      needed_(ended_by != 0 ? 1 : 2),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (ended_by != 0) last_ns_ = began_ns_;
  if (workload != nullptr && !workload->reap(false)) {
    pid_ = workload->pid();
    name_ = workload->name();
    command_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  watcher_ = std::thread([this] { watch(); });
}

RunEnd::~RunEnd() {
  if (!has_ended()) {
    env_.out.flush();
    env_.err.flush();
    {
      std::lock_guard lock(mutex_);
      needed_ = 1;
    }
    if (!wait_for_command(patience_left_ms())) {
      env_.err.print(
          "{}: everything is complete, but '{}' (process {}) goes on after SIG{}: one more Ctrl-C "
          "or SIGTERM kills it with all that it started\n",
          env_.tool, name_, pid_, request_ == SIGINT ? "INT" : "TERM");
      env_.err.flush();
      wait_for_command(-1);
    }
  }
  uint64_t one = 1;
  [[maybe_unused]] ssize_t told = ::write(stop_.get(), &one, sizeof one);
  watcher_.join();
  if (pid_ >= 0) (void)workload_->reap(false);
}

bool RunEnd::is_over() const {
  return has_ended() || patience_left_ms() == 0;
}

void RunEnd::wait() const {
  wait_for_command(patience_left_ms());
}

void RunEnd::take(int signal) {
  if (signal != SIGINT && signal != SIGTERM) return;
  std::lock_guard lock(mutex_);
  uint64_t now_ns = monotonic_ns();
  if (last_ns_ != 0 && now_ns - last_ns_ < kSameRequestNs) return;
  last_ns_ = now_ns;
  if (--needed_ > 0) return;
  if (!has_ended()) kill_with_descendants(pid_);
  die_by(signal);
}

/// Leaves the waiting for others.
bool RunEnd::has_ended() const {
  if (pid_ < 0) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;
  return info.si_pid == pid_;
}

int RunEnd::patience_left_ms() const {
  uint64_t passed_ms = (monotonic_ns() - began_ns_) / kMillisecondNs;
  return kPatienceMs - static_cast<int>(std::min<uint64_t>(passed_ms, kPatienceMs));
}

/// Less than 0: for as long as it takes.
bool RunEnd::wait_for_command(int ms) const {
  constexpr int kLookMs = 50;  // where Linux (before 5.3) has no descriptors of processes
  uint64_t end_ns = monotonic_ns() + static_cast<uint64_t>(std::max(ms, 0)) * kMillisecondNs;
  while (!has_ended()) {
    uint64_t now_ns = monotonic_ns();
    if (ms >= 0 && now_ns >= end_ns) return false;
    int left_ms = ms < 0 ? -1 : static_cast<int>((end_ns - now_ns) / kMillisecondNs) + 1;
    if (!command_.valid()) left_ms = left_ms < 0 ? kLookMs : std::min(left_ms, kLookMs);
    pollfd ended{.fd = command_.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&ended, 1, left_ms);
  }
  return true;
}

void RunEnd::watch() {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (int number : {SIGINT, SIGTERM}) ::sigaddset(&ending, number);
  Fd signals(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  while (true) {
    pollfd ready[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                      {.fd = signals.get(), .events = POLLIN, .revents = 0}};
    (void)::poll(ready, 2, -1);
    if (ready[0].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) == sizeof info)
      take(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace sonde
