// syscall basic: getppid(2), which does almost nothing, and which no C library remembers.
#include "benchmarks/syscall/call_loop.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace sonde {

std::unique_ptr<Benchmark> make_syscall_basic() {
  return std::make_unique<CallLoop>("getppid()", 10'000'000, [] {
    ::syscall(SYS_getppid);
    return true;
  });
}

}  // namespace sonde
