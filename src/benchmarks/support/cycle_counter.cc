#include "benchmarks/support/cycle_counter.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/process/seccomp.h"

namespace sonde {

Result<CycleCounter> CycleCounter::open(Sys& sys) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  SysResult<int> fd = sys.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd) return CycleCounter(Fd(*fd));
  if (seccomp_refuses_events(sys))
    return fail(ErrorCode::kPermission, "cycles: {}: {}", std::strerror(fd.error()),
                seccomp_advice("perf_event_open"));
  if (fd.error() == EACCES || fd.error() == EPERM)
    return fail(ErrorCode::kPermission,
                "cycles: {}: lower /proc/sys/kernel/perf_event_paranoid, or measure time",
                std::strerror(fd.error()));
  return fail(ErrorCode::kUnsupported,
              "cycles: {}: this machine cannot count them; measure time, without --cycles",
              std::strerror(fd.error()));
}

uint64_t CycleCounter::read() const {
  uint64_t count = 0;
  return ::read(fd_.get(), &count, sizeof count) == sizeof count ? count : 0;
}

}  // namespace sonde
