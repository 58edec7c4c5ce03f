#include "capture/synthesis/jvm_attach.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/files/process_root.h"
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

/// The folder in which a JVM and those who talk to it meet: /tmp, as the JVM sees it. What is done
/// there is done as the JVM's user would, and follows no links: other people can write there, too,
/// and the JVM's user decides what folder it is.
class MeetingPlace {
 public:
  static Result<MeetingPlace> open(pid_t pid) {
    ProcessRoot root = TRY(ProcessRoot::open(pid));
    Fd folder = TRY(root.open_directory("/tmp"));
    return MeetingPlace(pid, std::move(folder), root.owner());
  }

  /// The JVM requires the file to belong to its user.
  [[nodiscard]] Result<> create(const std::string& name) const {
    RightsOf rights(owner_);
    remove_with(rights, name);
    Fd file(rights.valid() ? ::openat(folder_.get(), name.c_str(),
                                      O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0660)
                           : -1);
    if (file.valid()) return {};
    return fail(ErrorCode::kPermission, "/proc/{}/root/tmp: {}", pid_, std::strerror(errno));
  }
  void remove(const std::string& name) const { remove_with(RightsOf(owner_), name); }

  /// To a socket of the JVM's user, behind which is the JVM.
  [[nodiscard]] Result<Fd> connect(const std::string& name) const {
    auto failed = [&](std::string_view why) {
      return fail(ErrorCode::kNotFound, "/proc/{}/root/tmp/{}: {}", pid_, name, why);
    };
    RightsOf rights(owner_);
    Fd file(rights.valid() ? ::openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)
                           : -1);
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) return failed(std::strerror(errno));
    if (!S_ISSOCK(status.st_mode) || status.st_uid != owner_.uid)
      return failed("it is not the socket of this virtual machine");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string path = fmt::format("/proc/self/fd/{}", file.get());
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    // A hung JVM does not accept connections: then this fails instead of waiting.
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid() ||
        ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      return failed(std::strerror(errno));
    ucred peer{};
    socklen_t size = sizeof peer;
    bool is_known = ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!is_known || peer.pid != pid_) return failed("another process listens there");
    return fd;
  }

 private:
  MeetingPlace(pid_t pid, Fd folder, ProcessOwner owner)
      : pid_(pid), folder_(std::move(folder)), owner_(std::move(owner)) {}
  void remove_with(const RightsOf& rights, const std::string& name) const {
    if (rights.valid()) ::unlinkat(folder_.get(), name.c_str(), 0);
  }

  pid_t pid_;
  Fd folder_;
  ProcessOwner owner_;
};

/// The file that asks the JVM to listen, for as long as this object exists.
class AttachRequest {
 public:
  AttachRequest(const MeetingPlace& place, std::string name)
      : place_(place), name_(std::move(name)) {}
  ~AttachRequest() {
    if (made_) place_.remove(name_);
  }
  AttachRequest(const AttachRequest&) = delete;
  AttachRequest& operator=(const AttachRequest&) = delete;

  [[nodiscard]] Result<> make() {
    TRY(place_.create(name_));
    made_ = true;
    return {};
  }

 private:
  const MeetingPlace& place_;
  std::string name_;
  bool made_ = false;
};

/// A connection, after telling the JVM to listen if necessary.
Result<Fd> attach(pid_t pid) {
  pid_t inside = TRY(pid_inside(pid));
  MeetingPlace place = TRY(MeetingPlace::open(pid));
  std::string socket = fmt::format(".java_pid{}", inside);
  if (auto connected = place.connect(socket)) return connected;
  if (!catches_quit(pid)) return fail(ErrorCode::kNotFound, "it is not listening");
  AttachRequest request(place, fmt::format(".attach_pid{}", inside));
  TRY(request.make());
  if (::kill(pid, SIGQUIT) != 0) return fail(ErrorCode::kNotFound, "{}", std::strerror(errno));
  for (auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (auto connected = place.connect(socket)) return connected;
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
