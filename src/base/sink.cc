#include "base/sink.h"

#include <unistd.h>

#include <cerrno>

namespace sonde {

bool FdSink::is_terminal() const {
  return ::isatty(fd_) == 1;
}

void FdSink::emit(std::string_view text) {
  while (!text.empty() && errno_ == 0) {
    ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0) {
      if (errno != EINTR) errno_ = errno;
      continue;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace sonde
