// Whole reads and writes of descriptors between a benchmark's tasks.
#pragma once

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

struct FdPair {
  Fd in;   // to read from
  Fd out;  // to write to
};

/// `flags`: of pipe2(2). Errors: no more descriptors.
Result<FdPair> make_pipe(int flags = 0);
/// A pair of stream sockets.
Result<FdPair> make_socket_pair();

}  // namespace sonde
