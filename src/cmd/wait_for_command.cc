#include "cmd/wait_for_command.h"

#include <poll.h>

#include <csignal>

namespace sonde {

Result<int> wait_for_command(SignalQueue& signals, std::optional<Workload>& workload) {
  while (true) {
    pollfd ready{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, -1);
    while (auto number = signals.next()) {
      if (*number == SIGCHLD) continue;
      if (*number != SIGINT && *number != SIGTERM) continue;
      if (!workload) return 0;
      workload->signal(*number);
    }
    if (!workload) continue;
    if (auto status = workload->reap(false)) return shell_status(*status);
  }
}

}  // namespace sonde
