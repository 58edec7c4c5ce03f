// What the loaders of programs that measure waits provide: call chains, from the map the programs
// keep them in, and what there was no room for.
#pragma once

#include <cstdint>
#include <vector>

struct bpf_map;

namespace sonde {

struct LostWaits {
  uint64_t waits = 0, ns = 0;
  uint64_t stacks = 0;  // waits that are reported, without a call chain
};

/// For programs that include programs/measured_waits.h.
template <typename Skeleton>
[[nodiscard]] LostWaits lost_waits(const Skeleton& skeleton) {
  return {skeleton.bss->lost_waits, skeleton.bss->lost_ns, skeleton.bss->lost_stacks};
}

/// The addresses of a call chain, innermost first, from a BPF_MAP_TYPE_STACK_TRACE. `number` is the
/// result of bpf_get_stackid(): empty if that was an error.
[[nodiscard]] std::vector<uint64_t> call_chain(const bpf_map* stacks, int number);

}  // namespace sonde
