#include "base/background_close.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

/// Keeps nothing open that anybody may wait for, above all not the user's pipes. Runs after a fork
/// of a threaded process: only system calls. `kept` is sorted.
[[noreturn]] void hold(const std::vector<int>& kept, int until_closed) {
  ::setsid();
  unsigned from = 0;
  for (int fd : kept) {
    auto next = static_cast<unsigned>(fd);
    if (next > from) (void)::close_range(from, next - 1, 0);
    from = next + 1;
  }
  (void)::close_range(from, ~0U, 0);
  (void)!::chdir("/");
  char nothing;
  (void)!::read(until_closed, &nothing, 1);
  ::_exit(0);
}

}  // namespace

BackgroundClose::BackgroundClose(std::span<const int> fds) {
  int ends[2];
  if (fds.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return;
  Fd read_end(ends[0]);
  held_open_ = Fd(ends[1]);
  std::vector<int> kept(fds.begin(), fds.end());
  kept.push_back(ends[0]);
  std::ranges::sort(kept);
  if (::fork() == 0) hold(kept, ends[0]);
}

}  // namespace sonde
