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

Result<> MeasuredCommand::start() {
  if (!workload_) return {};
  workload_->start();
  if (auto error = workload_->exec_error())
    return fail(ErrorCode::kNotFound, "{}: {}", name_, std::strerror(*error));
  return {};
}

std::optional<int> MeasuredCommand::look() {
  while (auto number = signals_.next()) {
    if (*number == SIGCHLD) continue;
    if (*number != SIGINT && *number != SIGTERM) continue;
    if (!workload_) return 0;
    workload_->signal(*number);
  }
  if (!workload_) return std::nullopt;
  auto status = workload_->reap(false);
  return status ? std::optional(shell_status(*status)) : std::nullopt;
}

Result<int> MeasuredCommand::run(int period_ms, const std::function<void()>& turn) {
  TRY(start());
  while (true) {
    pollfd ready{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, period_ms) == 0) turn();
    if (auto status = look()) return *status;
  }
}

Result<int> MeasuredCommand::run_timed(const std::function<std::optional<int>()>& turn) {
  TRY(start());
  while (true) {
    std::optional<int> wait_ms = turn();
    if (!wait_ms) break;
    pollfd ready{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, *wait_ms);
    if (auto status = look()) return *status;
  }
  if (!workload_) return 0;
  workload_->signal(SIGTERM);
  workload_->reap(true);
  return 0;
}

}  // namespace sonde
