#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

volatile int sum = 0;

}  // namespace

// A chain of frames that must not become jumps: work follows each call.
SONDE_KEPT static void leaf(int step) asm("leaf");
SONDE_KEPT static void leaf(int step) {
  keep_frame();
  while (is_over == 0) sum = sum + step;
}

SONDE_KEPT static void parent(int step) asm("parent");
SONDE_KEPT static void parent(int step) {
  leaf(step);
  sum = sum + 1;
}

extern "C" SONDE_KEPT void leafloop(int step) {
  parent(step);
  sum = sum + 1;
}

int run_leafloop(std::span<const std::string> arguments) {
  begin_workload("perf-leafloop", arguments);
  leafloop(1);
  return 0;
}

}  // namespace sonde::selftest
