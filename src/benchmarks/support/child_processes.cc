#include "benchmarks/support/child_processes.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "benchmarks/support/io.h"

namespace sonde {

Result<> ChildProcesses::start(const std::function<bool()>& work) {
  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0)
    return fail(ErrorCode::kFailed,
                "cannot start process {}: {}: lower the number of processes, or raise the limit "
                "(ulimit -u)",
                running_.size() + 1, std::strerror(errno));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before the line above
    ::_exit(work() ? 0 : 1);
  }
  last_ = pid;
  running_.push_back(pid);
  return {};
}

Result<> ChildProcesses::wait() {
  while (!running_.empty()) {
    int status = 0;
    rusage usage{};
    pid_t ended = ::wait4(-1, &status, 0, &usage);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return fail(ErrorCode::kIo, "waiting for processes: {}", std::strerror(errno));
    std::erase(running_, ended);
    peak_memory_kb_ = std::max(peak_memory_kb_, usage.ru_maxrss);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return fail(ErrorCode::kFailed, "process {} of the benchmark failed", ended);
  }
  return {};
}

ChildProcesses::~ChildProcesses() {
  for (pid_t pid : running_) ::kill(pid, SIGKILL);
  for (pid_t pid : running_)
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

namespace {

bool child_has_ended() {
  siginfo_t child{};
  bool known = ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
  return known && child.si_pid != 0;
}

}  // namespace

bool wait_until_ready(int fd, uint64_t count) {
  constexpr int kLookMs = 50;
  while (count > 0) {
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, kLookMs) == 1) {
      char byte = 0;
      if (!read_fully(fd, &byte, 1)) return false;
      --count;
    } else if (child_has_ended()) {
      return false;
    }
  }
  return true;
}

}  // namespace sonde
