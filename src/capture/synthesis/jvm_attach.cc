#include "capture/synthesis/jvm_attach.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr size_t kMaxAnswerLength = size_t{1} << 20;

/// The value of the line "NAME:\tVALUE" in /proc/PID/status.
Result<std::string> status_value(pid_t pid, std::string_view name) {
  std::string status = TRY(read_file(fmt::format("/proc/{}/status", pid)));
  for (std::string_view line : split(status, '\n')) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    std::string_view value = line.substr(name.size() + 1);
    return std::string(value.substr(std::min(value.size(), value.find_first_not_of(" \t"))));
  }
  return fail(ErrorCode::kNotFound, "/proc/{}/status has no {}", pid, name);
}

/// SIGQUIT kills a process that does not catch it.
bool catches_quit(pid_t pid) {
  auto caught = status_value(pid, "SigCgt");
  if (!caught) return false;
  auto mask = parse_hex(*caught);
  return mask && (*mask >> (SIGQUIT - 1) & 1) != 0;
}

/// The file that asks the JVM to listen, for as long as this object exists.
class AttachRequest {
 public:
  explicit AttachRequest(std::string path) : path_(std::move(path)) {}
  ~AttachRequest() { ::unlink(path_.c_str()); }
  AttachRequest(const AttachRequest&) = delete;
  AttachRequest& operator=(const AttachRequest&) = delete;

  /// The JVM requires the file to belong to its user.
  [[nodiscard]] bool place(const struct stat& process) const {
    ::unlink(path_.c_str());
    Fd file(::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0660));
    if (!file.valid()) return false;
    (void)!::fchown(file.get(), process.st_uid, process.st_gid);
    return true;
  }

 private:
  std::string path_;
};

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ErrorCode::kFailed, "{}: too long for a socket path", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // A hung JVM does not accept connections: then this fails instead of waiting.
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() ||
      ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return fail(ErrorCode::kNotFound, "{}: {}", path, std::strerror(errno));
  return fd;
}

/// A connection, after telling the JVM to listen if necessary.
Result<Fd> attach(pid_t pid) {
  pid_t inside = TRY(pid_inside(pid));
  std::string tmp = fmt::format("/proc/{}/root/tmp", pid);
  std::string socket = fmt::format("{}/.java_pid{}", tmp, inside);
  if (auto connected = connect_to(socket)) return connected;
  struct stat process{};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &process) != 0 || !catches_quit(pid))
    return fail(ErrorCode::kNotFound, "it is not listening");
  AttachRequest request(fmt::format("{}/.attach_pid{}", tmp, inside));
  if (!request.place(process))
    return fail(ErrorCode::kPermission, "{}: {}", tmp, std::strerror(errno));
  if (::kill(pid, SIGQUIT) != 0) return fail(ErrorCode::kNotFound, "{}", std::strerror(errno));
  for (auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (auto connected = connect_to(socket)) return connected;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(ErrorCode::kNotFound, "it does not answer");
}

/// Reads until the other side closes, or until the timeout.
Result<std::string> read_answer(int fd) {
  std::string answer;
  for (auto end = Clock::now() + kPatience; answer.size() < kMaxAnswerLength;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
      return fail(ErrorCode::kNotFound, "it does not answer");
    char piece[4096];
    ssize_t got = ::read(fd, piece, sizeof piece);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    answer.append(piece, static_cast<size_t>(got));
  }
  return answer;
}

}  // namespace

Result<pid_t> pid_inside(pid_t pid) {
  std::string numbers = TRY(status_value(pid, "NSpid"));
  auto number = parse_number(std::string_view(numbers).substr(numbers.find_last_of(" \t") + 1));
  if (!number) return fail(ErrorCode::kNotFound, "process {} has no PID in NSpid", pid);
  return static_cast<pid_t>(*number);
}

bool runs_jvm(pid_t pid) {
  auto maps = read_file(fmt::format("/proc/{}/maps", pid));
  return maps && maps->find("/libjvm.so\n") != std::string::npos;
}

Result<std::string> jvm_command(pid_t pid, std::string_view command) {
  Fd fd = TRY(attach(pid));
  // The protocol's version, the request, and always three arguments, each NUL-terminated.
  std::string request;
  for (std::string_view word : {std::string_view("1"), std::string_view("jcmd"), command,
                                std::string_view(), std::string_view()}) {
    request.append(word);
    request.push_back('\0');
  }
  // A few bytes, which fit into a new connection's buffer. Without SIGPIPE: the JVM may just exit.
  ssize_t sent = ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size()))
    return fail(ErrorCode::kNotFound, "it is not listening: {}", std::strerror(errno));
  std::string answer = TRY(read_answer(fd.get()));
  // A line with the result code, then text.
  std::vector<std::string_view> lines = split(answer, '\n');
  if (!lines.empty() && lines[0] == "0") return answer.substr(std::min<size_t>(answer.size(), 2));
  return fail(ErrorCode::kFailed, "{}", lines.size() > 1 ? lines[1] : std::string_view(answer));
}

}  // namespace sonde
