#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

// landlock_add_rule(2)
constexpr int kNoRuleset = 11, kUnknownFlags = 45;
constexpr int kPathBeneath = 1, kNetPort = 2;

struct [[gnu::packed]] PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};
struct NetPort {
  uint64_t allowed_access;
  uint64_t port;
};

}  // namespace

/// Its arguments are what matters, for tracers that show them; no rule is added.
int run_landlock(std::span<const std::string> /*arguments*/) {
#ifdef SYS_landlock_add_rule
  constexpr uint64_t kReadFile = 4, kConnect = 2;
  PathBeneath path{.allowed_access = kReadFile, .parent_fd = 14};
  NetPort port{.allowed_access = kConnect, .port = 19};
  ::syscall(SYS_landlock_add_rule, kNoRuleset, kPathBeneath, &path, kUnknownFlags);
  ::syscall(SYS_landlock_add_rule, kNoRuleset, kNetPort, &port, kUnknownFlags);
#endif
  return 0;
}

}  // namespace sonde::selftest
