#include "benchmarks/support/io.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace sonde {

namespace {

std::unexpected<Error> no_pair(const char* what) {
  return fail(ErrorCode::kFailed,
              "cannot create a {}: {}: make the benchmark smaller, or raise the limit (ulimit -n)",
              what, std::strerror(errno));
}

}  // namespace

Result<FdPair> make_pipe(int flags) {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), flags) != 0) return no_pair("pipe");
  return FdPair{Fd(fds[0]), Fd(fds[1])};
}

Result<FdPair> make_socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) != 0) return no_pair("pair of sockets");
  return FdPair{Fd(fds[0]), Fd(fds[1])};
}

}  // namespace sonde
