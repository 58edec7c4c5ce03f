// Untrusted perf maps (any process may write /tmp/perf-PID.map): whatever they say, the resulting
// ranges are disjoint, and they cost memory and time in proportion to the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "symbol/perf_map.h"

FUZZ_TARGET(perf_map)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  PerfMap map;
  spend(size, {}, [&] { map = PerfMap::parse(std::string(text)); });
  uint64_t reached = 0;
  for (const Symbol& symbol : map.table.symbols()) {
    if (symbol.end < symbol.start || symbol.name().empty()) __builtin_trap();
    if (symbol.size() != 0 && symbol.start < reached) __builtin_trap();
    if (symbol.size() != 0) reached = symbol.end;
    if (map.table.find(symbol.start) == nullptr) __builtin_trap();
  }
  return 0;
}
