// What the loaders of programs that include programs/cpu_counters.h have in common: passing
// counters to the programs and reading counts from them. For the .cc files of such loaders.
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/file.h"
#include "bpf/cpu_counters.h"

namespace sonde {

/// To be called before the program is attached, with a counter map per event
/// (bpf/shared_counters.h). False if the kernel refuses; errno says why.
bool put_counters(const bpf_map* table, std::span<const Fd> maps);

/// An event's counts so far, by CPU; zeros if the kernel refuses.
std::vector<CpuCount> counts_by_cpu(const bpf_map* totals, uint32_t event);

}  // namespace sonde
