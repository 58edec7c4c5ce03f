#include "bpf/measured_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>

namespace sonde {

std::vector<uint64_t> call_chain(const bpf_map* stacks, int number) {
  if (number < 0) return {};
  std::vector<uint64_t> chain(bpf_map__value_size(stacks) / sizeof(uint64_t));
  if (bpf_map_lookup_elem(bpf_map__fd(stacks), &number, chain.data()) != 0) return {};
  chain.erase(std::ranges::find(chain, uint64_t{0}), chain.end());
  return chain;
}

}  // namespace sonde
