#include "base/process/seccomp.h"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

/// proc(5): 0 none, 1 strict, 2 filter. Of the calling thread.
bool has_filter() {
  Result<std::string> status = read_file("/proc/thread-self/status");
  if (!status) return false;
  constexpr std::string_view kName = "\nSeccomp:";
  size_t found = status->find(kName);
  if (found == std::string::npos) return false;
  std::string_view rest = std::string_view(*status).substr(found + kName.size());
  return parse_number(trim(rest.substr(0, rest.find('\n')))) == SECCOMP_MODE_FILTER;
}

bool is_forbidden(int error) {
  return error == EPERM || error == EACCES || error == ENOSYS;
}

}  // namespace

bool seccomp_refuses_events(Sys& sys) {
  if (&sys != &Sys::host() || !has_filter()) return false;
  // The kernel looks at the flags first: EINVAL.
  constexpr unsigned long kUnknownFlags = ~0ul;
  return ::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, kUnknownFlags) == -1 &&
         is_forbidden(errno);
}

bool seccomp_refuses_bpf(Sys& sys) {
  if (&sys != &Sys::host() || !has_filter()) return false;
  // The kernel looks at the size first: E2BIG.
  constexpr unsigned kTooLarge = 1u << 24;
  return ::syscall(SYS_bpf, 0, nullptr, kTooLarge) == -1 && is_forbidden(errno);
}

std::string seccomp_advice(const char* call) {
  return fmt::format(
      "a seccomp filter keeps this process from {0}(2), as the default profiles of containers do, "
      "and no privilege inside helps: start the container with --security-opt seccomp=PROFILE, a "
      "profile that allows {0} (recent engines' does with --cap-add {1}), or the service with "
      "SystemCallFilter={0}",
      call, std::string_view(call) == "bpf" ? "BPF" : "PERFMON");
}

}  // namespace sonde
