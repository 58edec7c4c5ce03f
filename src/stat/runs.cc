#include "stat/runs.h"

#include <unistd.h>

#include "capture/control/workload.h"

namespace sonde {
namespace {

/// Puts times that no counter counts into the first counter's place.
void fill_in_times(const std::vector<CountedEvent>& events, const CountOutcome& outcome,
                   std::vector<EventReadings>& readings) {
  for (size_t i = 0; i < events.size(); ++i) {
    uint64_t ns = 0;
    switch (events[i].tool) {
      case ToolEvent::kNone:
        continue;
      case ToolEvent::kDurationTime:
        ns = outcome.elapsed_ns;
        break;
      case ToolEvent::kUserTime:
        ns = outcome.user_ns;
        break;
      case ToolEvent::kSystemTime:
        ns = outcome.system_ns;
        break;
    }
    if (readings[i].cpus.empty()) readings[i].cpus = {-1};
    readings[i].cpus.resize(1);
    readings[i].values = {{ns, ns, ns}};
  }
}

}  // namespace

Result<CountOutcome> StatRuns::once(const CountOptions& count, const Steps& steps) {
  TRY(run_shell(options_.pre));
  if (options_.sync) ::sync();
  auto run = std::make_unique<CountRun>(count, env_, signals_);
  TRY(run->open());
  // Only now may the previous run close its counters: the last close of a tracepoint is slow.
  if (run_) run_->counters().release();
  run_ = std::move(run);
  if (events_.empty())
    for (const CaptureEvent& event : counters().events())
      events_.push_back(counted_event(event.parsed, event.cgroup));
  if (steps.opened) TRY(steps.opened());
  return run_->measure([&](uint64_t now_ns) -> Result<> {
    return steps.interval ? steps.interval(now_ns) : Result<>{};
  });
}

std::vector<EventReadings> StatRuns::read(const CountOutcome& so_far) {
  std::vector<EventReadings> readings = counters().read();
  fill_in_times(events_, so_far, readings);
  return readings;
}

Result<> StatRuns::run_shell(const std::string& command) {
  if (command.empty()) return {};
  env_.err.flush();
  Workload shell = TRY(Workload::fork({"/bin/sh", "-c", command}, false));
  shell.start();
  int status = shell_status(shell.reap(true).value_or(0));
  // The SIGCHLD of this one belongs to nobody.
  if (status != 0) return fail(ErrorCode::kFailed, "'{}' failed with status {}", command, status);
  return {};
}

}  // namespace sonde
