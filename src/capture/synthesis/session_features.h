// What a recording tells about the machine: the header's sections from hostname to memory topology,
// read from uname, /proc and /sys as perf does. If a file is missing, its section is left out.
#pragma once

#include <string>
#include <vector>

#include "perfdata/header/features.h"

namespace sonde {

/// Fills in HOSTNAME, OSRELEASE, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CPU_TOPOLOGY,
/// NUMA_TOPOLOGY, PMU_MAPPINGS, CACHE, MEM_TOPOLOGY, CPU_PMU_CAPS, HYBRID_TOPOLOGY.
void collect_machine_features(Features& features);

/// CLOCKID and CLOCK_DATA: how the recording's clock relates to the wall clock, now.
void collect_clock(int32_t clockid, Features& features);

/// The individual parts, for tests with another machine's /sys.
CpuTopology read_cpu_topology(const std::string& sys, uint32_t cpu_count);
/// The cluster of each CPU; UINT32_MAX if the kernel (before 5.16) does not say.
std::vector<uint32_t> read_clusters(const std::string& sys, uint32_t cpu_count);
std::vector<CacheLevel> read_caches(const std::string& sys, uint32_t cpu_count);
std::vector<NumaNode> read_numa(const std::string& sys);
std::optional<MemTopology> read_mem_topology(const std::string& sys);
/// "GenuineIntel,6,85,7" from the text of an x86 /proc/cpuinfo.
std::optional<std::string> cpu_id_of(std::string_view cpuinfo);
/// "0x00000000410fd070" from an arm64 CPU's main id register as in /sys: without variant and
/// revision, because event tables are per model.
std::optional<std::string> cpu_id_of_midr(std::string_view midr);
/// The "model name" in the text of /proc/cpuinfo, with runs of blanks collapsed.
std::optional<std::string> cpu_description_of(std::string_view cpuinfo);

}  // namespace sonde
