#include "capture/counters/machine_pace.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace sonde {
namespace {

/// The result is the exit status, so a compiler cannot optimise any of this away.
int fixed_work() {
  constexpr size_t kBytes = size_t{1} << 20, kStride = 4096;
  constexpr int kSteps = 250'000;
  void* memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* bytes = static_cast<unsigned char*>(memory);
  uint64_t state = 1;
  for (size_t at = 0; at < kBytes; at += kStride)
    bytes[at] = static_cast<unsigned char>(at / kStride);
  for (int i = 0; i < kSteps; ++i) state = state * 6364136223846793005 + bytes[state >> 44];
  return state == 0 ? 1 : 0;
}

}  // namespace

Result<uint64_t> measure_machine_pace_ns() {
  uint64_t started_ns = monotonic_ns();
  pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIo, "failed to fork: {}", std::strerror(errno));
  if (child == 0) ::_exit(fixed_work());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return monotonic_ns() - started_ns;
}

}  // namespace sonde
