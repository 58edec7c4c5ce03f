// What the loaders of programs that include programs/cpu_counters.h have in common: passing
// counters to the programs and reading counts from them. For the .cc files of such loaders.
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/cpu_counters.h"

namespace sonde {

/// To be called before the program is loaded.
template <typename Skeleton>
void make_room_for_counters(Skeleton& skeleton, size_t events, int cpus) {
  skeleton.rodata->event_count = static_cast<uint32_t>(events);
  skeleton.rodata->cpu_count = static_cast<uint32_t>(cpus);
  bpf_map__set_max_entries(skeleton.maps.counters,
                           static_cast<uint32_t>(events) * static_cast<uint32_t>(cpus));
}

/// To be called before the program is attached; `cpus` as above. False if the kernel refuses; errno
/// says why.
bool put_counters(const bpf_map* table, std::span<const CpuCounter> counters, int cpus);

/// An event's counts so far, by CPU; zeros if the kernel refuses.
std::vector<CpuCount> counts_by_cpu(const bpf_map* totals, uint32_t event);

}  // namespace sonde
