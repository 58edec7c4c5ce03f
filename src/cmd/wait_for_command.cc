#include "cmd/wait_for_command.h"

#include <poll.h>

#include <csignal>

namespace sonde {

Result<int> wait_for_command(SignalQueue& signals, std::optional<Workload>& workload) {
  return wait_for_command(signals, workload, -1, [] {});
}

Result<int> wait_for_command(SignalQueue& signals, std::optional<Workload>& workload, int period_ms,
                             const std::function<void()>& turn) {
  while (true) {
    pollfd ready{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, period_ms) == 0) turn();
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
