// Untrusted pprof profiles, uncompressed.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"
#include "stacks/pprof_reader.h"

FUZZ_TARGET(pprof)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)looks_like_pprof(bytes);
  auto profile = read_pprof(bytes, "fuzz", true, losses);
  if (!profile) return 0;
  for (const StackColumn& column : profile->columns) {
    if (column.self.size() != profile->nodes.size()) __builtin_trap();
    for (double self : column.self)
      if (!(self >= 0)) __builtin_trap();
  }
  return 0;
}
