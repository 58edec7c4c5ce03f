// The header's optional sections, decoded. An absent section is nullopt or empty; a damaged one is
// left out and counted (loss: bad_feature). In a pipe the same content arrives in FEATURE, BUILD_ID
// and TRACING_DATA records and ends up here as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "abi/record_names.h"
#include "base/bytes.h"
#include "perfdata/read/file_identity.h"

namespace sonde {

struct BuildIdEntry {
  uint16_t misc = 0;  // kernel, user, guest …
  int32_t pid = -1;
  std::string build_id = {};  // raw bytes, usually 20
  std::string path = {};
  FileIdentity file = {};  // only known if several files with this path were mapped
};
struct CpuTopology {
  struct Cpu {
    uint32_t core = UINT32_MAX, socket = UINT32_MAX, die = UINT32_MAX;
  };
  std::vector<std::string> core_siblings;  // "0-3": sibling sockets
  std::vector<std::string> die_siblings;
  std::vector<std::string> thread_siblings;
  std::vector<Cpu> cpus;
};
struct NumaNode {
  uint32_t node;
  uint64_t total_kb, free_kb;
  std::string cpus;
};
struct PmuMapping {
  uint32_t type;
  std::string name;
};
struct GroupDesc {
  std::string name;
  uint32_t leader_index, member_count;
};
struct CacheLevel {
  uint32_t level, line_size, sets, ways;
  std::string type, size, cpus;
};
struct SampleTimeRange {
  uint64_t first_ns, last_ns;
};
struct MemTopology {
  uint64_t version, block_size;
  struct Node {
    uint64_t node;
    uint64_t block_bits;
    std::vector<uint64_t> bitmap;
  };
  std::vector<Node> nodes;
};
struct ClockData {
  uint32_t version, clockid;
  uint64_t wall_clock_ns, clockid_ns;
};
struct CompressionInfo {
  uint32_t version, type, level, ratio, mmap_length;
};
struct HybridPmu {
  std::string name, cpus;
};
struct PmuCaps {
  std::string pmu;
  std::vector<std::pair<std::string, std::string>> caps;
};
/// The scheduler's load-balancing domains, as /proc/schedstat reported them.
struct SchedDomains {
  struct Domain {
    uint32_t level;
    std::string name;  // "MC"; empty before version 17
    std::string mask;  // "00000000,00000003"
    std::string cpus;  // "0-1"
  };
  struct Cpu {
    uint32_t cpu;
    std::vector<Domain> domains;
  };
  uint32_t version = 0;      // of schedstat
  uint32_t most_levels = 0;  // above every domain's level
  std::vector<Cpu> cpus;     // those that have domains
};
struct BpfProgram {
  Bytes info;
};  // bpf_prog_info with its arrays, as stored

/// An event as EVENT_DESC describes it.
struct EventDescription {
  abi::EventAttr attr;
  std::string name;
  std::vector<uint64_t> ids;
};
/// The position of AUXTRACE records in the file.
struct AuxtraceIndexEntry {
  uint64_t file_offset, size;
};
/// An object with its symbols, as simpleperf stores it in the recording (FILE, FILE2).
struct SimpleperfFile {
  enum class Kind : uint32_t { kKernel, kKernelModule, kElf, kDex, kSymbolMap, kUnknown };
  struct Symbol {
    uint64_t address;  // virtual address in the object
    uint32_t size;
    std::string name;
  };
  std::string path;
  Kind kind = Kind::kUnknown;
  uint64_t min_address = 0;         // of the first executable segment
  uint64_t min_address_offset = 0;  // where that segment is in the file (modules: in memory)
  std::vector<Symbol> symbols;
  std::vector<uint64_t> dex_offsets;
};

/// Functions of an interpreter have addresses of their own in a recording, where no process can map
/// anything: beyond the user half of any x86-64 address space.
inline constexpr uint64_t kInterpretedBase = uint64_t{1} << 56;
/// The addresses of one source file.
inline constexpr uint64_t kInterpretedFileBytes = uint64_t{1} << 28;

/// A source file whose functions an interpreter ran (INTERPRETED_FILES, a section of our own).
/// Offsets in the mapped file are addresses minus kInterpretedBase.
struct InterpretedFile {
  struct Function {
    uint64_t place =
        0;  // address minus `start`: somewhere in the function; one more: its first line
    uint32_t first_line = 0;
    uint32_t line_count = 0;  // 0: lines are not known
    std::string name;
    bool operator==(const Function&) const = default;
  };
  std::string path;
  uint64_t start = 0;
  std::vector<Function> functions;  // by place
  bool operator==(const InterpretedFile&) const = default;
};

struct Features {
  std::vector<uint32_t> present;  // feature bits, ascending, from the file's bitmap
  std::optional<std::string> hostname, os_release, version, arch, cpu_desc, cpu_id;
  std::optional<uint32_t> cpus_available, cpus_online;
  std::optional<uint64_t> total_mem_kb;
  std::vector<std::string> command_line;
  std::vector<BuildIdEntry> build_ids;
  std::optional<CpuTopology> cpu_topology;
  std::vector<NumaNode> numa;
  bool branch_stack = false;
  std::vector<PmuMapping> pmu_mappings;
  std::vector<GroupDesc> groups;
  std::vector<CacheLevel> caches;
  std::optional<SampleTimeRange> sample_time;
  std::optional<MemTopology> mem_topology;
  std::optional<uint64_t> clock_resolution_ns;  // CLOCKID
  std::optional<ClockData> clock_data;
  std::optional<uint64_t> dir_format_version;
  std::vector<BpfProgram> bpf_programs;
  std::vector<std::pair<uint32_t, Bytes>> bpf_btf;  // id, raw BTF
  std::optional<CompressionInfo> compressed;
  std::vector<HybridPmu> hybrid_pmus;
  std::vector<PmuCaps> pmu_caps;                     // "cpu" first if CPU_PMU_CAPS is present
  std::optional<SchedDomains> sched_domains;         // CPU_DOMAIN_INFO
  Bytes tracing_data;                                // parsed by perfdata/header/tracing_data.h
  std::vector<EventDescription> event_descriptions;  // EVENT_DESC as stored; see EventTable
  std::vector<AuxtraceIndexEntry> auxtrace_index;
  std::vector<std::pair<std::string, std::string>> simpleperf_meta;
  std::vector<SimpleperfFile> simpleperf_files;
  std::vector<InterpretedFile> interpreted_files;

  [[nodiscard]] bool has(uint32_t feature) const;
};

}  // namespace sonde
