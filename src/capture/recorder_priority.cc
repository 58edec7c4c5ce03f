#include "capture/recorder_priority.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace sonde {

Result<> raise_recorder_priority(const RecordOptions& options) {
  if (options.realtime_priority <= 0) {
    constexpr int kFirst = -20;
    // Refused without CAP_SYS_NICE: then we wait like everybody else.
    if (::getpriority(PRIO_PROCESS, 0) == 0) (void)::setpriority(PRIO_PROCESS, 0, kFirst);
    return {};
  }
  sched_param parameter{};
  parameter.sched_priority = options.realtime_priority;
  if (::sched_setscheduler(0, SCHED_FIFO, &parameter) == 0) return {};
  return fail(ErrorCode::kPermission, "Could not set realtime priority {}: {}",
              options.realtime_priority, std::strerror(errno));
}

}  // namespace sonde
