#include "selftest/workloads/workload.h"

namespace sonde::selftest {

extern "C" SONDE_KEPT void noploop() {
  while (is_over == 0) {
  }
}

int run_noploop(std::span<const std::string> arguments) {
  begin_workload("perf-noploop", arguments);
  noploop();
  return 0;
}

}  // namespace sonde::selftest
