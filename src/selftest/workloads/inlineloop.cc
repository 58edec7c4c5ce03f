#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

volatile int sum = 0;

[[gnu::always_inline]] inline void leaf(int step) {
  while (is_over == 0) sum = sum + step;
}

[[gnu::always_inline]] inline void middle(int step) {
  leaf(step);
}

}  // namespace

SONDE_KEPT static void parent(int step) asm("parent");
SONDE_KEPT static void parent(int step) {
  keep_frame();
  middle(step);
}

int run_inlineloop(std::span<const std::string> arguments) {
  begin_workload("perf-inlineloop", arguments);
  parent(1);
  return 0;
}

}  // namespace sonde::selftest
