#include "benchmarks/breakpoint/watchpoint.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/process/seccomp.h"

namespace sonde {

Result<Fd> watch_variable(Sys& sys, const int* address) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.inherit = 1;
  attr.inherit_thread = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.bp_type = HW_BREAKPOINT_RW;
  attr.bp_addr = std::bit_cast<uintptr_t>(address);
  attr.bp_len = HW_BREAKPOINT_LEN_4;
  SysResult<int> fd = sys.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd) return Fd(*fd);
  std::string remedy = "this machine has no breakpoints";
  if (fd.error() == ENOSPC) remedy = "all of the CPU's breakpoints are in use: use fewer";
  if (fd.error() == EACCES || fd.error() == EPERM)
    remedy = "lower /proc/sys/kernel/perf_event_paranoid, or run as root";
  if (seccomp_refuses_events(sys)) remedy = seccomp_advice("perf_event_open");
  return fail(ErrorCode::kUnsupported, "breakpoint: {}: {}", std::strerror(fd.error()), remedy);
}

}  // namespace sonde
