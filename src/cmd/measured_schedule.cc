#include "cmd/measured_schedule.h"

#include <cstring>
#include <optional>

#include "cmd/wait_for_command.h"

namespace sonde {

Result<MeasuredSchedule> measure_schedule(const std::vector<std::string>& command) {
  // Threads that end meanwhile: the kernel has room for some thousands.
  constexpr int kCollectMs = 100;
  SignalQueue signals = TRY(SignalQueue::create());
  std::optional<Workload> workload;
  if (!command.empty()) workload.emplace(TRY(Workload::fork(command, false)));
  SchedSums sums = TRY(SchedSums::open());
  sums.start();
  if (workload) {
    workload->start();
    if (auto error = workload->exec_error())
      return fail(ErrorCode::kNotFound, "{}: {}", command[0], ::strerror(*error));
  }
  MeasuredSchedule measured;
  measured.status = TRY(wait_for_command(signals, workload, kCollectMs, [&] { sums.collect(); }));
  measured.sums = TRY(sums.stop());
  measured.lost = sums.lost_threads() + sums.lost_events();
  return measured;
}

}  // namespace sonde
