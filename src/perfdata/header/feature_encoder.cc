#include "perfdata/header/feature_encoder.h"

#include "perfdata/records/attr_codec.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// perf pads every string of a section to a multiple of 64 and writes that length before it.
void put_string(std::string_view text, ByteBuilder& out) {
  constexpr size_t kAlignment = 64;
  out.u32(static_cast<uint32_t>((text.size() + kAlignment) / kAlignment * kAlignment));
  out.padded_string(text, kAlignment);
}

void put_count(size_t count, ByteBuilder& out) {
  out.u32(static_cast<uint32_t>(count));
}

void put_strings(const std::vector<std::string>& texts, ByteBuilder& out) {
  put_count(texts.size(), out);
  for (const std::string& text : texts) put_string(text, out);
}

void put_event(const abi::EventAttr& attr, std::string_view name, const std::vector<uint64_t>& ids,
               uint32_t attr_size, ByteBuilder& out) {
  encode_attr(attr, attr_size, out);
  put_count(ids.size(), out);
  put_string(name, out);
  for (uint64_t id : ids) out.u64(id);
}

void put_event_desc(const Features& features, std::span<const EventDesc> events, uint32_t attr_size,
                    ByteBuilder& out) {
  bool as_read = !features.event_descriptions.empty();
  put_count(as_read ? features.event_descriptions.size() : events.size(), out);
  out.u32(attr_size);
  if (as_read) {
    for (const EventDescription& event : features.event_descriptions)
      put_event(event.attr, event.name, event.ids, attr_size, out);
    return;
  }
  for (const EventDesc& event : events)
    put_event(event.attr, event.name, event.ids, attr_size, out);
}

void put_cpu_topology(const CpuTopology& topology, ByteBuilder& out) {
  put_strings(topology.core_siblings, out);
  put_strings(topology.thread_siblings, out);
  for (const CpuTopology::Cpu& cpu : topology.cpus) {
    out.u32(cpu.core);
    out.u32(cpu.socket);
  }
  // Machines without dies (and recorders before Linux 5.3) end here.
  if (topology.die_siblings.empty()) return;
  put_strings(topology.die_siblings, out);
  for (const CpuTopology::Cpu& cpu : topology.cpus) out.u32(cpu.die);
}

void put_numa(const std::vector<NumaNode>& nodes, ByteBuilder& out) {
  put_count(nodes.size(), out);
  for (const NumaNode& node : nodes) {
    out.u32(node.node);
    out.u64(node.total_kb);
    out.u64(node.free_kb);
    put_string(node.cpus, out);
  }
}

void put_pmu_mappings(const std::vector<PmuMapping>& mappings, ByteBuilder& out) {
  put_count(mappings.size(), out);
  for (const PmuMapping& mapping : mappings) {
    out.u32(mapping.type);
    put_string(mapping.name, out);
  }
}

void put_groups(const std::vector<GroupDesc>& groups, ByteBuilder& out) {
  put_count(groups.size(), out);
  for (const GroupDesc& group : groups) {
    put_string(group.name, out);
    out.u32(group.leader_index);
    out.u32(group.member_count);
  }
}

void put_caches(const std::vector<CacheLevel>& caches, ByteBuilder& out) {
  constexpr uint32_t kVersion = 1;
  out.u32(kVersion);
  put_count(caches.size(), out);
  for (const CacheLevel& cache : caches) {
    out.u32(cache.level);
    out.u32(cache.line_size);
    out.u32(cache.sets);
    out.u32(cache.ways);
    put_string(cache.type, out);
    put_string(cache.size, out);
    put_string(cache.cpus, out);
  }
}

void put_mem_topology(const MemTopology& topology, ByteBuilder& out) {
  out.u64(topology.version);
  out.u64(topology.block_size);
  out.u64(topology.nodes.size());
  for (const MemTopology::Node& node : topology.nodes) {
    out.u64(node.node);
    out.u64(node.block_bits);
    out.u64(node.block_bits);  // once for the node, once for the bitmap
    for (uint64_t word : node.bitmap) out.u64(word);
  }
}

void put_bpf_programs(const std::vector<BpfProgram>& programs, ByteBuilder& out) {
  put_count(programs.size(), out);
  for (const BpfProgram& program : programs) out.bytes(program.info);
}

void put_bpf_btf(const std::vector<std::pair<uint32_t, Bytes>>& all, ByteBuilder& out) {
  put_count(all.size(), out);
  for (const auto& [id, btf] : all) {
    out.u32(id);
    put_count(btf.size(), out);
    out.bytes(btf);
  }
}

void put_build_ids(const std::vector<BuildIdEntry>& entries, ByteBuilder& out) {
  for (const BuildIdEntry& entry : entries) encode(entry, 0, out);
}

void put_hybrid(const std::vector<HybridPmu>& pmus, ByteBuilder& out) {
  put_count(pmus.size(), out);
  for (const HybridPmu& pmu : pmus) {
    put_string(pmu.name, out);
    put_string(pmu.cpus, out);
  }
}

void put_caps(const PmuCaps& pmu, bool with_name, ByteBuilder& out) {
  put_count(pmu.caps.size(), out);
  for (const auto& [name, value] : pmu.caps) {
    put_string(name, out);
    put_string(value, out);
  }
  if (with_name) put_string(pmu.pmu, out);
}

/// In Features the first entry holds CPU_PMU_CAPS; the rest is PMU_CAPS.
void put_pmu_caps(uint32_t bit, const Features& features, ByteBuilder& out) {
  bool own_section = features.has(abi::kFeatureCpuPmuCaps) && !features.pmu_caps.empty();
  if (bit == abi::kFeatureCpuPmuCaps) {
    put_caps(own_section ? features.pmu_caps.front() : PmuCaps{}, false, out);
    return;
  }
  std::span<const PmuCaps> others(features.pmu_caps);
  if (own_section) others = others.subspan(1);
  put_count(others.size(), out);
  for (const PmuCaps& pmu : others) put_caps(pmu, true, out);
}

void put_sched_domains(const SchedDomains& all, ByteBuilder& out) {
  constexpr uint32_t kFirstWithNames = 17;
  out.u32(all.version);
  out.u32(all.most_levels);
  for (const SchedDomains::Cpu& cpu : all.cpus) {
    out.u32(cpu.cpu);
    put_count(cpu.domains.size(), out);
    for (const SchedDomains::Domain& domain : cpu.domains) {
      out.u32(domain.level);
      if (all.version >= kFirstWithNames) put_string(domain.name, out);
      put_string(domain.mask, out);
      put_string(domain.cpus, out);
    }
  }
}

void put_cpu_counts(const Features& features, ByteBuilder& out) {
  out.u32(features.cpus_available.value_or(0));
  out.u32(features.cpus_online.value_or(0));
}

void put_compressed(const CompressionInfo& info, ByteBuilder& out) {
  out.u32(info.version);
  out.u32(info.type);
  out.u32(info.level);
  out.u32(info.ratio);
  out.u32(info.mmap_length);
}

void put_clock_data(const ClockData& clock, ByteBuilder& out) {
  out.u32(clock.version);
  out.u32(clock.clockid);
  out.u64(clock.wall_clock_ns);
  out.u64(clock.clockid_ns);
}

void put_auxtrace(const std::vector<AuxtraceIndexEntry>& entries, ByteBuilder& out) {
  out.u64(entries.size());
  for (const AuxtraceIndexEntry& entry : entries) {
    out.u64(entry.file_offset);
    out.u64(entry.size);
  }
}

}  // namespace

bool encode_feature(uint32_t bit, const Features& features, std::span<const EventDesc> events,
                    uint32_t attr_size, ByteBuilder& out) {
  switch (bit) {
    case abi::kFeatureTracingData:
      out.bytes(features.tracing_data);
      return true;
    case abi::kFeatureBuildId:
      put_build_ids(features.build_ids, out);
      return true;
    case abi::kFeatureHostname:
      put_string(features.hostname.value_or(""), out);
      return true;
    case abi::kFeatureOsRelease:
      put_string(features.os_release.value_or(""), out);
      return true;
    case abi::kFeatureVersion:
      put_string(features.version.value_or(""), out);
      return true;
    case abi::kFeatureArch:
      put_string(features.arch.value_or(""), out);
      return true;
    case abi::kFeatureNrCpus:
      put_cpu_counts(features, out);
      return true;
    case abi::kFeatureCpuDesc:
      put_string(features.cpu_desc.value_or(""), out);
      return true;
    case abi::kFeatureCpuId:
      put_string(features.cpu_id.value_or(""), out);
      return true;
    case abi::kFeatureTotalMem:
      out.u64(features.total_mem_kb.value_or(0));
      return true;
    case abi::kFeatureCmdline:
      put_strings(features.command_line, out);
      return true;
    case abi::kFeatureEventDesc:
      put_event_desc(features, events, attr_size, out);
      return true;
    case abi::kFeatureCpuTopology:
      put_cpu_topology(features.cpu_topology.value_or(CpuTopology{}), out);
      return true;
    case abi::kFeatureNumaTopology:
      put_numa(features.numa, out);
      return true;
    case abi::kFeatureBranchStack:
    case abi::kFeatureStat:
      return true;  // the bit says it all
    case abi::kFeaturePmuMappings:
      put_pmu_mappings(features.pmu_mappings, out);
      return true;
    case abi::kFeatureGroupDesc:
      put_groups(features.groups, out);
      return true;
    case abi::kFeatureAuxtrace:
      put_auxtrace(features.auxtrace_index, out);
      return true;
    case abi::kFeatureCache:
      put_caches(features.caches, out);
      return true;
    case abi::kFeatureSampleTime:
      out.u64(features.sample_time ? features.sample_time->first_ns : 0);
      out.u64(features.sample_time ? features.sample_time->last_ns : 0);
      return true;
    case abi::kFeatureMemTopology:
      put_mem_topology(features.mem_topology.value_or(MemTopology{1, 0, {}}), out);
      return true;
    case abi::kFeatureClockId:
      out.u64(features.clock_resolution_ns.value_or(0));
      return true;
    case abi::kFeatureDirFormat:
      out.u64(features.dir_format_version.value_or(1));
      return true;
    case abi::kFeatureBpfProgInfo:
      put_bpf_programs(features.bpf_programs, out);
      return true;
    case abi::kFeatureBpfBtf:
      put_bpf_btf(features.bpf_btf, out);
      return true;
    case abi::kFeatureCompressed:
      put_compressed(features.compressed.value_or(CompressionInfo{}), out);
      return true;
    case abi::kFeatureCpuPmuCaps:
    case abi::kFeaturePmuCaps:
      put_pmu_caps(bit, features, out);
      return true;
    case abi::kFeatureCpuDomainInfo:
      put_sched_domains(features.sched_domains.value_or(SchedDomains{}), out);
      return true;
    case abi::kFeatureClockData:
      put_clock_data(features.clock_data.value_or(ClockData{}), out);
      return true;
    case abi::kFeatureHybridTopology:
      put_hybrid(features.hybrid_pmus, out);
      return true;
    case abi::kFeatureSimpleperfFile:
      feature::put_simpleperf_files(features, out);
      return true;
    case abi::kFeatureSimpleperfFile2:
      feature::put_simpleperf_files2(features, out);
      return true;
    case abi::kFeatureSimpleperfMetaInfo:
      feature::put_simpleperf_meta(features, out);
      return true;
    case abi::kFeatureInterpretedFiles:
      feature::put_interpreted_files(features.interpreted_files, out);
      return true;
    default:
      return false;
  }
}

bool feature_goes_into_pipe(uint32_t bit) {
  switch (bit) {
    case abi::kFeatureTracingData:
    case abi::kFeatureBuildId:
    case abi::kFeatureBranchStack:
    case abi::kFeatureAuxtrace:
    case abi::kFeatureStat:
    case abi::kFeatureDirFormat:
      return false;
    default:
      return bit < abi::kFeatureSimpleperfStart;
  }
}

}  // namespace sonde
