#include <cstdint>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {

extern "C" SONDE_KEPT void trap_bench() {
#if defined(__aarch64__)
  uint64_t features = 0;
  asm volatile("mrs %0, ID_AA64ISAR0_EL1" : "=r"(features));
#else
  asm volatile("nop");
#endif
}

int run_traploop(std::span<const std::string> arguments) {
  begin_workload("perf-traploop", arguments);
  while (is_over == 0) trap_bench();
  return 0;
}

}  // namespace sonde::selftest
