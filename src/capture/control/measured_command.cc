#include "capture/control/measured_command.h"

#include <poll.h>

#include <csignal>
#include <cstring>

namespace sonde {

Result<MeasuredCommand> MeasuredCommand::fork(const std::vector<std::string>& command) {
  MeasuredCommand measured(TRY(SignalQueue::create()), command.empty() ? "" : command[0]);
  if (!command.empty()) measured.workload_.emplace(TRY(Workload::fork(command, false)));
  return measured;
}

void MeasuredCommand::choose_tasks(bool anything_else, FollowedTasks& tasks) const {
  bool is_alone = workload_ && !anything_else && tasks.tids.empty();
  tasks.all = !is_alone && tasks.tids.empty();
  tasks.enable_on_exec = is_alone;
  if (is_alone) tasks.tids.push_back(static_cast<uint32_t>(workload_->pid()));
}

Result<int> MeasuredCommand::run() {
  return run(-1, [] {});
}

Result<int> MeasuredCommand::run(int period_ms, const std::function<void()>& turn) {
  if (workload_) {
    workload_->start();
    if (auto error = workload_->exec_error())
      return fail(ErrorCode::kNotFound, "{}: {}", name_, std::strerror(*error));
  }
  while (true) {
    pollfd ready{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, period_ms) == 0) turn();
    while (auto number = signals_.next()) {
      if (*number == SIGCHLD) continue;
      if (*number != SIGINT && *number != SIGTERM) continue;
      if (!workload_) return 0;
      workload_->signal(*number);
    }
    if (!workload_) continue;
    if (auto status = workload_->reap(false)) return shell_status(*status);
  }
}

}  // namespace sonde
