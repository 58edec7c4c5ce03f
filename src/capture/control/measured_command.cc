#include "capture/control/measured_command.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace sonde {

Result<MeasuredCommand> MeasuredCommand::fork(const std::vector<std::string>& command, Env& env) {
  MeasuredCommand measured(TRY(SignalQueue::create()), env);
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
    return fail(ErrorCode::kNotFound, "{}: {}", workload_->name(), std::strerror(*error));
  return {};
}

std::optional<int> MeasuredCommand::look() {
  while (auto number = signals_.next()) {
    if (*number != SIGINT && *number != SIGTERM) continue;
    if (!workload_) return 0;
    if (end_) {
      end_->take(*number);
      continue;
    }
    ended_by_ = *number;
    workload_->signal(*number);
    end_ = std::make_unique<RunEnd>(&*workload_, *number, ended_by_, *env_);
  }
  if (!workload_) return std::nullopt;
  if (auto status = workload_->reap(false)) return shell_status(*status);
  if (end_ && end_->is_over()) return 128 + ended_by_;
  return std::nullopt;
}

/// For a signal; less than 0: for as long as it takes.
void MeasuredCommand::wait(int ms) const {
  constexpr int kLookMs = 50;  // whether a command that was asked to end has had its time
  if (end_) ms = ms < 0 ? kLookMs : std::min(ms, kLookMs);
  pollfd ready{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
  (void)::poll(&ready, 1, ms);
}

Result<int> MeasuredCommand::run(int period_ms, const std::function<void()>& turn) {
  TRY(start());
  while (true) {
    wait(period_ms);
    turn();
    if (auto status = look()) return *status;
  }
}

Result<int> MeasuredCommand::run_timed(const std::function<std::optional<int>()>& turn) {
  TRY(start());
  while (true) {
    std::optional<int> wait_ms = turn();
    if (!wait_ms) break;
    wait(*wait_ms);
    if (auto status = look()) return *status;
  }
  if (!workload_) return 0;
  workload_->signal(SIGTERM);
  if (!end_) end_ = std::make_unique<RunEnd>(&*workload_, SIGTERM, ended_by_, *env_);
  end_->wait();
  return 0;
}

}  // namespace sonde
