#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

volatile unsigned count = 0;

}  // namespace

// Returns, and a call that is not taken each time.
extern "C" SONDE_KEPT void brstack_bar() {
  count = count + 1;
}

extern "C" SONDE_KEPT void brstack_foo() {
  brstack_bar();
  count = count + 1;
}

/// A direct call, an indirect one, conditional and unconditional jumps.
extern "C" SONDE_KEPT void brstack_bench() {
  void (*volatile indirect)() = brstack_foo;
  if (count % 3 != 0)
    brstack_bar();
  else
    count = count + 2;
  brstack_foo();
  indirect();
}

int run_brstack(std::span<const std::string> arguments) {
  constexpr unsigned kUsual = 1'000'000;
  begin_workload("perf-brstack", {});
  unsigned most = number_at(arguments, 0, kUsual);
  for (unsigned i = 0; i < most; ++i) brstack_bench();
  return 0;
}

}  // namespace sonde::selftest
