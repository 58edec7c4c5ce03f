// The sections that describe the machine's CPUs, caches and memory.
#include "perfdata/header/feature_decoder.h"

namespace sonde::feature {
namespace {

constexpr size_t kCoreAndSocket = 2 * sizeof(uint32_t);

/// Cores and sockets by CPU. Old recorders end before them; newer ones also write the dies.
bool read_cpus(ByteCursor& in, uint32_t count, CpuTopology& topology) {
  if (in.left() == 0) return true;
  if (!in.fits(count, kCoreAndSocket)) return false;
  topology.cpus.resize(count);
  for (CpuTopology::Cpu& cpu : topology.cpus) {
    cpu.core = in.u32();
    cpu.socket = in.u32();
  }
  if (in.left() == 0) return true;
  if (!read_strings(in, topology.die_siblings)) return false;
  for (CpuTopology::Cpu& cpu : topology.cpus) cpu.die = in.u32();
  return in.ok();
}

}  // namespace

bool cpu_topology(ByteCursor& in, Features& features) {
  CpuTopology topology;
  if (!read_strings(in, topology.core_siblings) || !read_strings(in, topology.thread_siblings))
    return false;
  auto fallback = static_cast<uint32_t>(in.left() / kCoreAndSocket);
  if (!read_cpus(in, features.cpus_available.value_or(fallback), topology)) return false;
  features.cpu_topology = std::move(topology);
  return true;
}

bool numa_topology(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    NumaNode node;
    node.node = in.u32();
    node.total_kb = in.u64();
    node.free_kb = in.u64();
    node.cpus = read_string(in);
    features.numa.push_back(std::move(node));
  }
  return in.ok();
}

bool cache(ByteCursor& in, Features& features) {
  constexpr uint32_t kVersion = 1;
  if (in.u32() != kVersion) return false;
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    CacheLevel level;
    level.level = in.u32();
    level.line_size = in.u32();
    level.sets = in.u32();
    level.ways = in.u32();
    level.type = read_string(in);
    level.size = read_string(in);
    level.cpus = read_string(in);
    features.caches.push_back(std::move(level));
  }
  return in.ok();
}

bool mem_topology(ByteCursor& in, Features& features) {
  MemTopology topology;
  topology.version = in.u64();
  topology.block_size = in.u64();
  uint64_t count = in.u64();
  if (!in.fits(count, 3 * sizeof(uint64_t))) return false;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    MemTopology::Node node;
    node.node = in.u64();
    node.block_bits = in.u64();
    uint64_t bits = in.u64();
    if (bits / 8 > in.left()) return false;
    for (uint64_t word = 0; word < (bits + 63) / 64; ++word) node.bitmap.push_back(in.u64());
    topology.nodes.push_back(std::move(node));
  }
  features.mem_topology = std::move(topology);
  return in.ok();
}

/// Nothing says how many CPUs there are; the last may be followed by alignment padding.
bool cpu_domain_info(ByteCursor& in, Features& features) {
  constexpr uint32_t kFirstWithNames = 17;
  constexpr size_t kMinCpu = 2 * sizeof(uint32_t), kMinDomain = 3 * sizeof(uint32_t);
  SchedDomains all;
  all.version = in.u32();
  all.most_levels = in.u32();
  while (in.ok() && in.left() >= kMinCpu) {
    SchedDomains::Cpu cpu{.cpu = in.u32(), .domains = {}};
    uint32_t count = in.u32();
    if (!in.fits(count, kMinDomain)) return false;
    for (uint32_t i = 0; i < count && in.ok(); ++i) {
      SchedDomains::Domain domain{.level = in.u32(), .name = {}, .mask = {}, .cpus = {}};
      if (all.version >= kFirstWithNames) domain.name = read_string(in);
      domain.mask = read_string(in);
      domain.cpus = read_string(in);
      cpu.domains.push_back(std::move(domain));
    }
    all.cpus.push_back(std::move(cpu));
  }
  features.sched_domains = std::move(all);
  return in.ok();
}

}  // namespace sonde::feature
