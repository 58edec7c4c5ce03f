#include <thread>
#include <vector>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {

extern "C" SONDE_KEPT void test_loop() {
  while (is_over == 0) {
  }
}

int run_thloop(std::span<const std::string> arguments) {
  begin_workload("perf-thloop", arguments);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < number_at(arguments, 1, 2); ++i) threads.emplace_back(test_loop);
  test_loop();
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace sonde::selftest
