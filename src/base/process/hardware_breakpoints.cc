#include "base/process/hardware_breakpoints.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <cstdint>

namespace sonde {
namespace {

[[gnu::noinline]] void watched() {
  asm volatile("");
}

}  // namespace

std::optional<bool> hardware_breakpoints_fire(Sys& sys) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_X;
  attr.bp_addr = reinterpret_cast<uintptr_t>(&watched);
  attr.bp_len = sizeof(long);  // what the kernel wants for code
  attr.exclude_kernel = attr.exclude_hv = 1;
  SysResult<int> fd = sys.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (!fd) return std::nullopt;
  watched();
  uint64_t times = 0;
  SysResult<size_t> got = sys.read(*fd, &times, sizeof times);
  (void)sys.close(*fd);
  if (!got || *got != sizeof times) return std::nullopt;
  return times > 0;
}

}  // namespace sonde
