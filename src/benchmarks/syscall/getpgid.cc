// syscall getpgid: getpgid(2), which looks a process up and takes references to it.
#include "benchmarks/syscall/call_loop.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace sonde {

std::unique_ptr<Benchmark> make_syscall_getpgid() {
  return std::make_unique<CallLoop>("getpgid()", 10'000'000,
                                    [] { return ::syscall(SYS_getpgid, 0) >= 0; });
}

}  // namespace sonde
