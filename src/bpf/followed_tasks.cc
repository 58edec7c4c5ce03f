#include "bpf/followed_tasks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <algorithm>

namespace sonde {

bool add_threads(const bpf_map* table, std::span<const uint32_t> tids) {
  return std::ranges::all_of(tids, [table](uint32_t tid) {
    uint8_t yes = 1;
    return bpf_map_update_elem(bpf_map__fd(table), &tid, &yes, BPF_ANY) == 0;
  });
}

bool has_threads(const bpf_map* table) {
  uint32_t first = 0;
  return bpf_map_get_next_key(bpf_map__fd(table), nullptr, &first) == 0;
}

}  // namespace sonde
