#include "benchmarks/support/child_processes.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

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

}  // namespace sonde
