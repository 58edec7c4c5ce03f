#include "capture/recorders/recorder_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

/// As sched_setattr(2) takes it; Debian 12's C library does not declare it.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};

void ask_for_short_slices() {
  // Another policy (chrt) is the user's decision.
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  constexpr uint64_t kMinNs = 100'000;
  SchedulingAttributes attributes;
  attributes.nice = ::getpriority(PRIO_PROCESS, 0);  // unchanged
  attributes.runtime_ns = kMinNs;
  (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

void put_reader_first(const RecordOptions& options) {
  constexpr int kFirst = -20;
  bool is_chosen = options.realtime_priority > 0 || ::sched_getscheduler(0) != SCHED_OTHER ||
                   ::getpriority(PRIO_PROCESS, 0) != 0;
  if (!is_chosen) (void)::setpriority(PRIO_PROCESS, 0, kFirst);  // of this thread alone, in Linux
}

Result<> raise_recorder_priority(const RecordOptions& options) {
  if (options.realtime_priority <= 0) {
    ask_for_short_slices();
    return {};
  }
  sched_param parameter{};
  parameter.sched_priority = options.realtime_priority;
  if (::sched_setscheduler(0, SCHED_FIFO, &parameter) == 0) return {};
  return fail(ErrorCode::kPermission, "Could not set realtime priority {}: {}",
              options.realtime_priority, std::strerror(errno));
}

}  // namespace sonde
