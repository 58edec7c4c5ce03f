#include <array>
#include <cstdint>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {

struct TypedCounter {
  uint64_t total;
  uint32_t calls;
  uint16_t kinds[4];
};

extern "C" SONDE_KEPT void count_typed(TypedCounter* counter, uint32_t step) {
  counter->total += step;
  ++counter->calls;
  uint16_t& kind = counter->kinds[step % 4];
  kind = static_cast<uint16_t>(kind + 1);
}

int run_code_with_type(std::span<const std::string> arguments) {
  begin_workload("perf-code_type", arguments);
  std::array<TypedCounter, 8> counters{};
  for (uint32_t i = 0; is_over == 0; ++i) count_typed(&counters[i % counters.size()], i);
  return counters[0].calls == 0 ? 1 : 0;
}

}  // namespace sonde::selftest
