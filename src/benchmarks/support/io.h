// Whole reads and writes of descriptors between a benchmark's tasks.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// False if the other side is gone, or the call fails for another reason.
inline bool read_fully(int fd, void* buffer, size_t size) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    ssize_t got = ::read(fd, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

inline bool write_fully(int fd, const void* buffer, size_t size) {
  const auto* from = static_cast<const char*>(buffer);
  while (size > 0) {
    ssize_t put = ::write(fd, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

/// For a task of several that begin together: says on a pipe that it is ready, and waits until
/// there is something in another. False if that fails.
inline bool wait_to_begin(int ready, int begin) {
  char byte = 0;
  if (!write_fully(ready, &byte, 1)) return false;
  pollfd wanted{.fd = begin, .events = POLLIN, .revents = 0};
  while (::poll(&wanted, 1, -1) != 1)
    if (errno != EINTR) return false;
  return true;
}

struct FdPair {
  Fd in;   // to read from
  Fd out;  // to write to
};

/// `flags`: of pipe2(2). Errors: no more descriptors.
Result<FdPair> make_pipe(int flags = 0);
/// A pair of stream sockets.
Result<FdPair> make_socket_pair();

}  // namespace sonde
