#include "base/process/end_guard.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace sonde {
namespace {

[[noreturn]] void work_at_end(int word, const char* name, const std::function<void()>& work) {
  ::setsid();
  ::prctl(PR_SET_NAME, name);
  sigset_t everything;
  sigfillset(&everything);
  ::sigprocmask(SIG_SETMASK, &everything, nullptr);
  // Nobody must have to wait for what we inherited, above all not for the other end of the pair.
  if (word > 0) (void)::close_range(0, static_cast<unsigned>(word) - 1, 0);
  (void)::close_range(static_cast<unsigned>(word) + 1, ~0U, 0);
  if (::chdir("/") != 0) ::_exit(1);
  char byte = 0;
  ssize_t got;
  do {
    got = ::read(word, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) work();
  ::_exit(0);
}

}  // namespace

Result<EndGuard> EndGuard::start(const char* name, const std::function<void()>& work) {
  int ends[2];
  // Not a pipe: writing to one whose guard was killed would kill this process, too.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorCode::kIo, "cannot make a pair of sockets: {}", std::strerror(errno));
  Fd guards_end(ends[0]), our_end(ends[1]);
  pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIo, "cannot start a process: {}", std::strerror(errno));
  // A double fork, so that the guard is nobody's child to wait for.
  if (child == 0) {
    our_end.reset();
    if (::fork() == 0) work_at_end(guards_end.get(), name, work);
    ::_exit(0);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return EndGuard(std::move(our_end));
}

void EndGuard::dismiss() {
  if (word_.valid()) (void)::send(word_.get(), "d", 1, MSG_NOSIGNAL);
  word_.reset();
}

}  // namespace sonde
