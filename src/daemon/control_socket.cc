#include "daemon/control_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};

Result<Fd> new_socket() {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail(ErrorCode::kIo, "cannot make a socket: {}", std::strerror(errno));
  return fd;
}

Result<Fd> open_directory(const DaemonPaths& paths) {
  Fd fd(::open(paths.base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid())
    return fail(ErrorCode::kNotFound, "base {}: {}", paths.base, std::strerror(errno));
  return fd;
}

/// An address has 107 characters at most (unix(7)), a path more.
sockaddr_un address_in(const Fd& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/control",
                   directory.get());
  return address;
}

bool receive(const Fd& connection, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t got = ::read(connection.get(), bytes.data(), bytes.size());
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(const DaemonPaths& paths) {
  std::string path = paths.control();
  remove_left_over(path, S_IFSOCK);
  Fd directory = TRY(open_directory(paths));
  ControlSocket socket(TRY(new_socket()), paths);
  sockaddr_un address = address_in(directory);
  mode_t before = ::umask(0177);
  int bound = ::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  int error = errno;
  ::umask(before);
  constexpr int kWaiting = 16;
  if (bound != 0 || ::listen(socket.fd(), kWaiting) != 0)
    return fail(ErrorCode::kPermission, "cannot listen on {}: {}", path,
                std::strerror(bound != 0 ? error : errno));
  return socket;
}

ControlSocket::~ControlSocket() {
  if (fd_.valid()) remove_left_over(paths_.control(), S_IFSOCK);
}

std::optional<ControlSocket::Call> ControlSocket::accept() const {
  Fd connection(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.valid()) return std::nullopt;
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  std::array<std::byte, DaemonRequest::kSize> bytes{};
  if (!receive(connection, bytes)) return std::nullopt;
  Result<DaemonRequest> request = DaemonRequest::decode(bytes);
  if (!request) return std::nullopt;
  return Call{std::move(*request), std::move(connection)};
}

void send_answer(const Fd& connection, std::string_view text) {
  while (!text.empty()) {
    ssize_t sent = ::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

Result<Fd> call_daemon(const DaemonPaths& paths, const DaemonRequest& request) {
  Fd directory = TRY(open_directory(paths));
  Fd fd = TRY(new_socket());
  sockaddr_un address = address_in(directory);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED)
      return fail(ErrorCode::kNotFound, "no daemon runs on {}; start one with `daemon start`",
                  paths.base);
    return fail(ErrorCode::kPermission, "cannot connect to {}: {}", paths.control(),
                std::strerror(errno));
  }
  std::array<std::byte, DaemonRequest::kSize> bytes = request.encode();
  if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    return fail(ErrorCode::kIo, "cannot write to {}: {}", paths.control(), std::strerror(errno));
  return fd;
}

}  // namespace sonde
