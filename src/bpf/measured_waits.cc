#include "bpf/measured_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>

#include "bpf/programs/call_chain_number.h"

namespace sonde {

std::vector<uint64_t> call_chain(CallChainMaps maps, int number) {
  if (number < 0) return {};
  const bpf_map* stacks = (number & IN_SPARE_STACKS) != 0 ? maps.spare_stacks : maps.stacks;
  number &= ~IN_SPARE_STACKS;
  std::vector<uint64_t> chain(bpf_map__value_size(stacks) / sizeof(uint64_t));
  if (bpf_map_lookup_elem(bpf_map__fd(stacks), &number, chain.data()) != 0) return {};
  chain.erase(std::ranges::find(chain, uint64_t{0}), chain.end());
  return chain;
}

}  // namespace sonde
