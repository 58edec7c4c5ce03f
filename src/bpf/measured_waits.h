// What the loaders of programs that measure waits provide: call chains, from the map the programs
// keep them in, and what there was no room for.
#pragma once

#include <cstdint>
#include <vector>

struct bpf_map;

namespace sonde {

struct LostWaits {
  uint64_t waits = 0, ns = 0;
  uint64_t stacks = 0;  // call chains, of waits that are reported
};

/// For programs that include programs/measured_waits.h.
template <typename Skeleton>
[[nodiscard]] LostWaits lost_waits(const Skeleton& skeleton) {
  return {skeleton.bss->lost_waits, skeleton.bss->lost_ns, skeleton.bss->lost_stacks};
}

/// Where programs/call_chains.h keeps its chains.
struct CallChainMaps {
  const bpf_map *stacks, *spare_stacks;
};
/// The addresses of a call chain, innermost first. `number`: from call_chain() in
/// programs/call_chains.h; empty if that was an error.
[[nodiscard]] std::vector<uint64_t> call_chain(CallChainMaps maps, int number);
template <typename Skeleton>
[[nodiscard]] std::vector<uint64_t> call_chain(const Skeleton& skeleton, int number) {
  return call_chain(CallChainMaps{skeleton.maps.stacks, skeleton.maps.spare_stacks}, number);
}

}  // namespace sonde
