// syscall fork: fork(2), the end of the child at once, and waiting for it.
#include "benchmarks/syscall/call_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_syscall_fork() {
  return std::make_unique<CallLoop>("fork()", 10'000,
                                    [] { return fork_and_wait([] { return 0; }); });
}

}  // namespace sonde
