#include "sched/measured_schedule.h"

namespace sonde {

Result<MeasuredSchedule> measure_schedule(const std::vector<std::string>& command, Env& env) {
  // Collects threads that end meanwhile: the kernel side has room for a few thousand.
  constexpr int kCollectMs = 100;
  MeasuredCommand running = TRY(MeasuredCommand::fork(command, env));
  SchedTotals sums = TRY(SchedTotals::open());
  sums.start();
  MeasuredSchedule measured;
  measured.status = TRY(running.run(kCollectMs, [&] { sums.collect(); }));
  measured.sums = TRY(sums.stop());
  measured.lost = sums.lost_threads() + sums.lost_events();
  measured.command.emplace(std::move(running));
  return measured;
}

}  // namespace sonde
