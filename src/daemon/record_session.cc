#include "daemon/record_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/file.h"

namespace sonde {
namespace {

std::unexpected<Error> cannot_make(const std::string& path) {
  return fail(ErrorCode::kPermission, "cannot make {}: {}", path, std::strerror(errno));
}

/// A new FIFO in any case: a recording that outlived its daemon may still read the old one.
Result<> make_fifo(const std::string& path) {
  remove_left_over(path, S_IFIFO);
  if (::mkfifo(path.c_str(), 0600) != 0) return cannot_make(path);
  return {};
}

void drain(int fd) {
  char buffer[256];
  while (::read(fd, buffer, sizeof buffer) > 0) {
  }
}

bool told(int fd, std::string_view line) {
  return ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace

Result<RecordSession> RecordSession::start(const DaemonSession& session, const DaemonPaths& daemon,
                                           const std::string& tool) {
  RecordSession started(session, SessionPaths(daemon, session.name));
  const SessionPaths& paths = started.paths_;
  if (::mkdir(paths.base.c_str(), 0755) != 0 && errno != EEXIST) return cannot_make(paths.base);
  TRY(make_fifo(paths.control()));
  TRY(make_fifo(paths.ack()));
  pid_t self = ::getpid();
  started.pid_ = ::fork();
  if (started.pid_ < 0)
    return fail(ErrorCode::kIo, "cannot start session '{}': {}", session.name,
                std::strerror(errno));
  if (started.pid_ == 0) started.become_record(tool, self);
  return started;
}

void RecordSession::become_record(const std::string& tool, pid_t daemon) const {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != daemon || ::chdir(paths_.base.c_str()) != 0) ::_exit(1);
  int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int out =
      ::open("output", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (in < 0 || out < 0) ::_exit(1);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  // What the daemon blocks and ignores is for the daemon.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGPIPE, SIGINT, SIGHUP}) (void)std::signal(number, SIG_DFL);
  std::vector<std::string> words = {tool, "record", "--control=fifo:control,ack"};
  words.insert(words.end(), wanted_.words.begin(), wanted_.words.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // By its path, so that ps shows its name; unless the file was replaced meanwhile.
  char path[PATH_MAX] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 1) > 0) ::execv(path, pointers.data());
  ::execv("/proc/self/exe", pointers.data());
  ::_exit(127);
}

long RecordSession::minutes_up() const {
  auto up = std::chrono::steady_clock::now() - started_;
  return std::chrono::duration_cast<std::chrono::minutes>(up).count();
}

bool RecordSession::ping(std::chrono::milliseconds patience) const {
  // Fails at once if nobody reads it.
  Fd control(::open(paths_.control().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  Fd ack(::open(paths_.ack().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!control.valid() || !ack.valid()) return false;
  drain(ack.get());  // an answer that came too late for an earlier ping
  if (!told(control.get(), "ping\n")) return false;
  pollfd ready{.fd = ack.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
  char answer[4] = {};
  return ::read(ack.get(), answer, sizeof answer) >= 3 && std::memcmp(answer, "ack", 3) == 0;
}

void RecordSession::ask_to_end() const {
  Fd control(::open(paths_.control().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!control.valid() || !told(control.get(), "stop\n")) signal(SIGTERM);
}

void RecordSession::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

std::optional<int> RecordSession::reap() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  return status;
}

std::string RecordSession::first_line() const {
  constexpr size_t kMaxShown = 200;
  Fd fd(::open(paths_.output().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  char text[kMaxShown];
  ssize_t got = fd.valid() ? ::read(fd.get(), text, sizeof text) : 0;
  std::string_view line(text, got > 0 ? static_cast<size_t>(got) : 0);
  while (line.starts_with('\n')) line.remove_prefix(1);
  return std::string(line.substr(0, line.find('\n')));
}

void RecordSession::clean_up() const {
  remove_left_over(paths_.control(), S_IFIFO);
  remove_left_over(paths_.ack(), S_IFIFO);
}

std::string how_it_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("killed (signal {})", WTERMSIG(wait_status));
  return fmt::format("exited, status={}", WEXITSTATUS(wait_status));
}

}  // namespace sonde
