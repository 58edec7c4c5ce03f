#include "benchmarks/futex/futex_options.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "benchmarks/support/worker_threads.h"

namespace sonde {

void FutexLoadOptions::declare(FlagTable& flags) {
  flags.boolean('m', "mlockall", lock_memory,
                "keep all memory of the benchmark from being swapped out (mlockall(2))");
  flags.boolean('S', "shared", shared, "futexes that processes can share, instead of private ones");
  flags.boolean('s', "silent", silent, "show only the average, not each thread or run");
  flags.number('t', "threads", threads, "n", "threads (default: as many as CPUs)");
}

Result<> FutexLoadOptions::prepare() {
  if (threads == 0) threads = static_cast<unsigned>(allowed_cpus().size());
  constexpr unsigned kMaxThreads = 1 << 20;
  if (threads > kMaxThreads)
    return fail(ErrorCode::kUsage, "--threads {}: at most {}", threads, kMaxThreads);
  if (lock_memory && ::mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    return fail(ErrorCode::kPermission, "--mlockall: {}: raise the limit (ulimit -l)",
                std::strerror(errno));
  return {};
}

std::unexpected<Error> futex_failed(const char* operation, int error) {
  const char* remedy = error == ENOSYS ? ": the kernel is built without it (CONFIG_FUTEX_PI)" : "";
  return fail(error == ENOSYS ? ErrorCode::kUnsupported : ErrorCode::kFailed, "futex {}: {}{}",
              operation, std::strerror(error), remedy);
}

}  // namespace sonde
