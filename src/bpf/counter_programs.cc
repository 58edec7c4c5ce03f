#include "bpf/counter_programs.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <algorithm>

#include "bpf/programs/cpu_counts.h"

namespace sonde {

static_assert(sizeof(CpuCount) == sizeof(cpu_count));

bool put_counters(const bpf_map* table, std::span<const Fd> maps) {
  for (uint32_t event = 0; event < maps.size(); ++event) {
    int map = maps[event].get();
    if (bpf_map_update_elem(bpf_map__fd(table), &event, &map, BPF_ANY) != 0) return false;
  }
  return true;
}

std::vector<CpuCount> counts_by_cpu(const bpf_map* totals, uint32_t event) {
  int cpus = libbpf_num_possible_cpus();
  std::vector<CpuCount> counts(cpus > 0 ? static_cast<size_t>(cpus) : 0);
  if (counts.empty() || bpf_map_lookup_elem(bpf_map__fd(totals), &event, counts.data()) != 0)
    std::ranges::fill(counts, CpuCount{});
  return counts;
}

}  // namespace sonde
