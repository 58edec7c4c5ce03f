// Untrusted speedscope JSON.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"
#include "stacks/speedscope_reader.h"

FUZZ_TARGET(speedscope)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto profile = read_speedscope(text, "fuzz", {.want_samples = true}, losses);
  if (!profile) return 0;
  for (StackNodeId node : profile->samples.node)
    if (node.valid() && node.index() >= profile->nodes.size()) __builtin_trap();
  for (const StackColumn& column : profile->columns)
    for (double self : column.self)
      if (!(self >= 0)) __builtin_trap();
  return 0;
}
