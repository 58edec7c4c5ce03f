#include "benchmarks/syscall/call_loop.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace sonde {

void CallLoop::declare(FlagTable& flags) {
  flags.number('l', "loop", loops_, "n", "calls to make (10000000, of fork and execve 10000)");
}

Result<> CallLoop::run(BenchmarkRun& run) {
  uint64_t start_ns = monotonic_ns();
  for (unsigned i = 0; i < loops_; ++i)
    if (!call_())
      return fail(ErrorCode::kFailed, "{}: call {} failed: {}", name_, i + 1,
                  errno ? std::strerror(errno) : "the process reports an error");
  TimedOperations timed{.gap = false, .elapsed_ns = monotonic_ns() - start_ns};
  timed.done = {fmt::format("Executed {} {} calls", loops_, name_)};
  timed.operations = loops_;
  run.report.report(timed);
  return {};
}

bool fork_and_wait(const std::function<int()>& work) {
  pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(work());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  errno = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace sonde
