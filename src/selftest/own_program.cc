#include "selftest/own_program.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "capture/control/workload.h"

extern char** environ;

namespace sonde::selftest {
namespace {

struct Pipe {
  Fd in, out;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::kFailed, "pipe: {}", std::strerror(errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// False at the end.
bool read_some(const Fd& from, std::string& into) {
  std::array<char, 4096> buffer;
  ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  into.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

/// Both at a time, so that neither is full while the other is read. False if they are still open at
/// `deadline_ns`.
bool read_both(Pipe& out, Pipe& err, uint64_t deadline_ns, Finished& finished) {
  std::array<pollfd, 2> open = {{{out.in.get(), POLLIN, 0}, {err.in.get(), POLLIN, 0}}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    uint64_t now_ns = monotonic_ns();
    if (now_ns >= deadline_ns) return false;
    auto left_ms = static_cast<int>((deadline_ns - now_ns) / 1'000'000 + 1);
    if (::poll(open.data(), open.size(), left_ms) < 0 && errno != EINTR) return true;
    if (open[0].revents != 0 && !read_some(out.in, finished.out)) open[0].fd = -1;
    if (open[1].revents != 0 && !read_some(err.in, finished.err)) open[1].fd = -1;
  }
  return true;
}

/// Asks `child` to end, so that it stops what it started; ends it if it doesn't.
void end_child(pid_t child, int& status) {
  constexpr int kTries = 200;
  constexpr useconds_t kPauseUs = 10'000;
  ::kill(child, SIGTERM);
  for (int i = 0; i < kTries; ++i) {
    if (::waitpid(child, &status, WNOHANG) == child) return;
    ::usleep(kPauseUs);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
}

}  // namespace

Result<Finished> run_own(const std::vector<std::string>& words, const std::string& directory,
                         std::chrono::milliseconds limit) {
  Pipe out = TRY(make_pipe()), err = TRY(make_pipe());
  std::string name = "sonde";
  std::vector<char*> arguments = {name.data()};
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.out.get(), 2);
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = -1;
  int error = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(ErrorCode::kFailed, "cannot run {}: {}", name, std::strerror(error));
  out.out.reset();
  err.out.reset();
  Finished finished;
  int status = 0;
  uint64_t limit_ns = static_cast<uint64_t>(limit.count()) * 1'000'000;
  if (!read_both(out, err, monotonic_ns() + limit_ns, finished)) {
    end_child(child, status);
    return fail(ErrorCode::kFailed, "`{} {}` did not end within {}", name, join(words, " "), limit);
  }
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = shell_status(status);
  return finished;
}

}  // namespace sonde::selftest
