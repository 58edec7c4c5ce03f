#include "capture/control/workload.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/process/program.h"

namespace sonde {
namespace {

Result<std::pair<Fd, Fd>> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, "failed to create a pipe: {}", std::strerror(errno));
  return std::pair{Fd(fds[0]), Fd(fds[1])};
}

/// In the child, between fork and exec: waits to be released, then becomes the command.
[[noreturn]] void become(int go_fd, int status_fd, const std::vector<char*>& words,
                         bool quiet_stdout) {
  for (int number : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2, SIGPIPE})
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (quiet_stdout) ::dup2(STDERR_FILENO, STDOUT_FILENO);

  char word = 0;
  ssize_t got;
  do {
    got = ::read(go_fd, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(1);  // the recorder is gone

  ::execvp(words[0], words.data());
  int error = errno;
  [[maybe_unused]] ssize_t told = ::write(status_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<Workload> Workload::fork(const std::vector<std::string>& command, bool quiet_stdout) {
  const char* path = std::getenv("PATH");
  TRY(check_program(command.front(), path == nullptr ? "/bin:/usr/bin" : path));
  auto [go_read, go_write] = TRY(make_pipe());
  auto [status_read, status_write] = TRY(make_pipe());
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::kIo, "failed to fork: {}", std::strerror(errno));
  if (pid == 0) {
    go_write.reset();
    become(go_read.get(), status_write.get(), words, quiet_stdout);
  }
  Workload workload;
  workload.pid_ = pid;
  workload.name_ = command.front();
  workload.go_ = std::move(go_write);
  workload.exec_status_ = std::move(status_read);
  return workload;
}

Workload::Workload(Workload&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      name_(std::move(other.name_)),
      go_(std::move(other.go_)),
      exec_status_(std::move(other.exec_status_)),
      started_(other.started_),
      status_(other.status_),
      usage_(other.usage_) {}

Workload::~Workload() {
  if (pid_ < 0 || started_) return;
  go_.reset();
  (void)reap(true);
}

void Workload::start() {
  started_ = true;
  [[maybe_unused]] ssize_t told = ::write(go_.get(), "g", 1);
  go_.reset();
}

std::optional<int> Workload::exec_error() {
  int error = 0;
  ssize_t got;
  do {
    got = ::read(exec_status_.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  exec_status_.reset();
  if (got == sizeof error) return error;
  return std::nullopt;
}

std::optional<int> Workload::reap(bool block) {
  if (status_) return status_;
  int status = 0;
  pid_t got;
  do {
    got = ::wait4(pid_, &status, block ? 0 : WNOHANG, &usage_);
  } while (got < 0 && errno == EINTR);
  if (got == pid_) status_ = status;
  return status_;
}

void Workload::signal(int number) const {
  if (!status_ && pid_ > 0) ::kill(pid_, number);
}

int shell_status(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return 255;
}

}  // namespace sonde
