#include "capture/counters/count_run.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/clock.h"

namespace sonde {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr int kTaskCheckMs = 100;  // how soon the exit of the last task of -p or -t is noticed

uint64_t to_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond +
         static_cast<uint64_t>(time.tv_usec) * 1000;
}

Result<Fd> make_timer() {
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid())
    return fail(ErrorCode::kIo, "failed to create a timer: {}", std::strerror(errno));
  return timer;
}

void start_timer(const Fd& timer, uint64_t first_ms, bool repeat) {
  if (!timer.valid()) return;
  timespec period{static_cast<time_t>(first_ms / 1000),
                  static_cast<long>(first_ms % 1000 * 1'000'000)};
  itimerspec when{repeat ? period : timespec{}, period};
  ::timerfd_settime(timer.get(), 0, &when, nullptr);
}

bool take_expirations(const Fd& timer) {
  uint64_t count = 0;
  return ::read(timer.get(), &count, sizeof count) == sizeof count;
}

}  // namespace

Result<> CountRun::open() {
  poller_.emplace(TRY(Poller::create()));
  counters_.emplace(TRY(CounterSet::open(options_, env_)));
  return {};
}

Result<CountOutcome> CountRun::measure(const std::function<Result<>(uint64_t)>& on_interval) {
  TRY(watch());
  start();
  while (!done_) {
    (void)poller_->wait(wait_ms());
    if (interval_due_ && !done_) TRY(on_interval_timer(on_interval));
    if (!done_ && tasks_are_gone()) done_ = true;
  }
  std::optional<Workload>& workload = counters_->workload();
  if (workload && !outcome_.wait_status) {
    workload->signal(SIGTERM);
    end_.emplace(&*workload, SIGTERM, outcome_.interrupted_by, env_);
    end_->wait();
    outcome_.wait_status = workload->reap(false);
  }
  if (ended_at_ns_ == 0) ended_at_ns_ = monotonic_ns();
  // A command has ended; everything else would keep counting while it is read.
  if (!counters_->target().is_command()) counters_->set_enabled(false);
  if (exec_error_)
    return fail(ErrorCode::kFailed, "Workload failed: {}", std::strerror(*exec_error_));
  outcome_.elapsed_ns = ended_at_ns_ - started_at_ns_;
  if (workload) {
    outcome_.user_ns = to_ns(workload->usage().ru_utime);
    outcome_.system_ns = to_ns(workload->usage().ru_stime);
  }
  return outcome_;
}

Result<> CountRun::watch() {
  commands_.emplace(ControlCommands::Actions{[this](bool on) { counters_->set_enabled(on); },
                                             [this](std::string_view name, bool on) {
                                               return counters_->set_enabled(name, on);
                                             },
                                             [this](std::string_view text) { say(text); }},
                    env_, counters_->events());
  poller_->add(signals_.fd(), [this](auto) { on_signals(); });
  if (options_.delay.any()) {
    delay_.emplace(TRY(DelaySchedule::create(options_.delay)));
    poller_->add(delay_->fd(), [this](auto) { on_delay(); });
  }
  if (options_.control.any()) {
    control_.emplace(TRY(ControlChannel::open(options_.control)));
    poller_->add(control_->fd(), [this](auto) { on_control(); });
  }
  if (options_.interval_ms > 0) {
    interval_timer_ = TRY(make_timer());
    poller_->add(interval_timer_.get(),
                 [this](auto) { interval_due_ |= take_expirations(interval_timer_); });
  }
  if (options_.timeout_ms > 0) {
    timeout_timer_ = TRY(make_timer());
    poller_->add(timeout_timer_.get(), [this](auto) { done_ |= take_expirations(timeout_timer_); });
  }
  return {};
}

void CountRun::start() {
  bool on_exec = counters_->target().is_command();
  if (options_.delay.any()) say("Events disabled");
  begin();
  if (!options_.delay.any() && !on_exec) counters_->set_enabled(true);
  if (counters_->workload()) counters_->workload()->start();
  if (delay_) delay_->start();
}

/// What is measured begins now. Intervals and the timeout wait for the end of a delay.
void CountRun::begin() {
  started_at_ns_ = monotonic_ns();
  if (delay_ && !delay_->steps().empty() && !has_begun_) return;
  start_timer(interval_timer_, options_.interval_ms, true);
  start_timer(timeout_timer_, options_.timeout_ms, false);
}

void CountRun::on_signals() {
  while (std::optional<int> number = signals_.next()) {
    if (*number == SIGCHLD) {
      std::optional<Workload>& workload = counters_->workload();
      if (!workload) continue;
      std::optional<int> status = workload->reap(false);
      if (!status) continue;
      ended_at_ns_ = monotonic_ns();
      outcome_.wait_status = status;
      // Queried only now: a wakeup at the exec would disturb what is measured.
      exec_error_ = workload->exec_error();
      done_ = true;
    } else if (*number != SIGUSR2) {
      outcome_.interrupted_by = *number;
      done_ = true;
    }
  }
}

void CountRun::on_delay() {
  std::optional<DelaySchedule::Step> step = delay_->take();
  if (!step) return;
  if (step->on && !std::exchange(has_begun_, true)) begin();
  commands_->set_enabled(step->on);
}

void CountRun::on_control() {
  if (!commands_->obey(*control_)) done_ = true;
  if (control_->ended()) poller_->remove(control_->fd());
}

Result<> CountRun::on_interval_timer(const std::function<Result<>(uint64_t)>& on_interval) {
  interval_due_ = false;
  TRY(on_interval(monotonic_ns() - started_at_ns_));
  if (++intervals_ != options_.interval_count) return {};
  // The requested number of intervals was shown; a command still runs to its end.
  poller_->remove(interval_timer_.get());
  if (!counters_->workload()) done_ = true;
  return {};
}

void CountRun::say(std::string_view text) {
  if (options_.quiet) return;
  env_.err.write_lines(fmt::format("{}\n", text));
  env_.err.flush();
}

/// Without a command whose end to wait for, -p and -t last as long as their tasks.
bool CountRun::tasks_are_gone() const {
  const Target& target = counters_->target();
  if (target.kind != Target::Kind::kTasks || !options_.target.has_task()) return false;
  if (!options_.target.command.empty()) return false;
  return std::ranges::none_of(target.threads, [](const ThreadEntry& thread) {
    return ::access(fmt::format("/proc/{}", thread.tid).c_str(), F_OK) == 0;
  });
}

int CountRun::wait_ms() const {
  bool watches_tasks =
      counters_->target().kind == Target::Kind::kTasks && options_.target.command.empty();
  return watches_tasks ? kTaskCheckMs : -1;
}

}  // namespace sonde
