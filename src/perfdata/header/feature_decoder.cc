#include "perfdata/header/feature_decoder.h"

#include <algorithm>

#include "perfdata/records/attr_codec.h"
#include "perfdata/records/record.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace feature {

std::string read_string(ByteCursor& in) {
  uint32_t size = in.u32();
  return std::string(in.fixed_string(size));
}

bool read_strings(ByteCursor& in, std::vector<std::string>& texts) {
  uint32_t count = in.u32();
  if (!in.fits(count, sizeof(uint32_t))) return false;
  for (uint32_t i = 0; i < count && in.ok(); ++i) texts.push_back(read_string(in));
  return in.ok();
}

namespace {

bool build_ids(ByteCursor& in, Features& features) {
  while (in.left() >= sizeof(abi::RecordHeader)) {
    RecordView record;
    record.order = in.order();
    record.type = in.u32();
    record.misc = in.u16();
    uint16_t size = in.u16();
    if (size < sizeof(abi::RecordHeader)) return false;
    record.payload = in.take(size - sizeof(abi::RecordHeader));
    if (!in.ok()) return false;
    auto entry = decode_build_id(record);
    if (!entry) return false;
    features.build_ids.push_back(std::move(*entry));
  }
  return true;
}

bool event_desc(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  uint32_t attr_size = in.u32();
  if (attr_size < abi::kAttrSizeVer0 || !in.fits(count, attr_size)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    auto attr = decode_attr(in.take(attr_size), in.order());
    uint32_t id_count = in.u32();
    EventDescription event{attr.value_or(abi::EventAttr{}), read_string(in), {}};
    if (!attr || !in.fits(id_count, sizeof(uint64_t))) return false;
    for (uint32_t k = 0; k < id_count; ++k) event.ids.push_back(in.u64());
    if (!in.ok()) return false;
    features.event_descriptions.push_back(std::move(event));
  }
  return true;
}

bool cpu_counts(ByteCursor& in, Features& features) {
  features.cpus_available = in.u32();
  features.cpus_online = in.u32();
  return in.ok();
}

bool pmu_mappings(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    uint32_t type = in.u32();
    features.pmu_mappings.push_back({type, read_string(in)});
  }
  return in.ok();
}

bool group_desc(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    GroupDesc group;
    group.name = read_string(in);
    group.leader_index = in.u32();
    group.member_count = in.u32();
    features.groups.push_back(std::move(group));
  }
  return in.ok();
}

/// perf writes the number of entries before them, simpleperf does not: the size tells which it is.
bool auxtrace(ByteCursor& in, Features& features) {
  bool is_counted = in.left() % sizeof(AuxtraceIndexEntry) != 0;
  uint64_t count = is_counted ? in.u64() : in.left() / sizeof(AuxtraceIndexEntry);
  if (!in.fits(count, sizeof(AuxtraceIndexEntry))) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = in.u64();
    features.auxtrace_index.push_back({offset, in.u64()});
  }
  return in.ok();
}

bool sample_time(ByteCursor& in, Features& features) {
  uint64_t first = in.u64();
  features.sample_time = {first, in.u64()};
  return in.ok();
}

bool clock_data(ByteCursor& in, Features& features) {
  ClockData clock{};
  clock.version = in.u32();
  clock.clockid = in.u32();
  clock.wall_clock_ns = in.u64();
  clock.clockid_ns = in.u64();
  features.clock_data = clock;
  return in.ok();
}

/// One program: sizes of the info and of its arrays, a bitmap of the arrays, then both.
bool bpf_programs(ByteCursor& in, Features& features) {
  constexpr size_t kProgramHeader = 16;
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    if (in.left() < kProgramHeader) return false;
    ByteCursor ahead = in;
    uint64_t info_size = ahead.u32();
    uint64_t data_size = ahead.u32();
    features.bpf_programs.push_back({in.take(kProgramHeader + info_size + data_size)});
  }
  return in.ok();
}

bool bpf_btf(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    uint32_t id = in.u32();
    uint32_t size = in.u32();
    features.bpf_btf.emplace_back(id, in.take(size));
  }
  return in.ok();
}

bool compressed(ByteCursor& in, Features& features) {
  CompressionInfo info{};
  info.version = in.u32();
  info.type = in.u32();
  info.level = in.u32();
  info.ratio = in.u32();
  info.mmap_length = in.u32();
  features.compressed = info;
  return in.ok();
}

bool hybrid_topology(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = read_string(in);
    features.hybrid_pmus.push_back({std::move(name), read_string(in)});
  }
  return in.ok();
}

bool read_caps(ByteCursor& in, PmuCaps& pmu) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = read_string(in);
    pmu.caps.emplace_back(std::move(name), read_string(in));
  }
  return in.ok();
}

bool cpu_pmu_caps(ByteCursor& in, Features& features) {
  PmuCaps pmu{.pmu = "cpu", .caps = {}};
  if (!read_caps(in, pmu)) return false;
  features.pmu_caps.insert(features.pmu_caps.begin(), std::move(pmu));
  return true;
}

bool pmu_caps(ByteCursor& in, Features& features) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    PmuCaps pmu;
    if (!read_caps(in, pmu)) return false;
    pmu.pmu = read_string(in);
    features.pmu_caps.push_back(std::move(pmu));
  }
  return in.ok();
}

bool text(ByteCursor& in, std::optional<std::string>& value) {
  value = read_string(in);
  return in.ok();
}
bool number(ByteCursor& in, std::optional<uint64_t>& value) {
  value = in.u64();
  return in.ok();
}

/// Sections that perf does not have.
bool decode_added(uint32_t bit, ByteCursor& in, Features& features) {
  switch (bit) {
    case abi::kFeatureSimpleperfFile:
      return simpleperf_file(in, features);
    case abi::kFeatureSimpleperfFile2:
      return simpleperf_file2(in, features);
    case abi::kFeatureSimpleperfMetaInfo:
      return simpleperf_meta_info(in, features);
    case abi::kFeatureInterpretedFiles:
      return interpreted_files(in, features);
    default:
      return true;
  }
}

bool decode(uint32_t bit, ByteCursor& in, Features& features) {
  switch (bit) {
    case abi::kFeatureTracingData:
      features.tracing_data = in.rest();
      return true;
    case abi::kFeatureBuildId:
      return build_ids(in, features);
    case abi::kFeatureHostname:
      return text(in, features.hostname);
    case abi::kFeatureOsRelease:
      return text(in, features.os_release);
    case abi::kFeatureVersion:
      return text(in, features.version);
    case abi::kFeatureArch:
      return text(in, features.arch);
    case abi::kFeatureNrCpus:
      return cpu_counts(in, features);
    case abi::kFeatureCpuDesc:
      return text(in, features.cpu_desc);
    case abi::kFeatureCpuId:
      return text(in, features.cpu_id);
    case abi::kFeatureTotalMem:
      return number(in, features.total_mem_kb);
    case abi::kFeatureCmdline:
      return read_strings(in, features.command_line);
    case abi::kFeatureEventDesc:
      return event_desc(in, features);
    case abi::kFeatureCpuTopology:
      return cpu_topology(in, features);
    case abi::kFeatureNumaTopology:
      return numa_topology(in, features);
    case abi::kFeatureBranchStack:
      features.branch_stack = true;
      return true;
    case abi::kFeaturePmuMappings:
      return pmu_mappings(in, features);
    case abi::kFeatureGroupDesc:
      return group_desc(in, features);
    case abi::kFeatureAuxtrace:
      return auxtrace(in, features);
    case abi::kFeatureCache:
      return cache(in, features);
    case abi::kFeatureSampleTime:
      return sample_time(in, features);
    case abi::kFeatureMemTopology:
      return mem_topology(in, features);
    case abi::kFeatureClockId:
      return number(in, features.clock_resolution_ns);
    case abi::kFeatureDirFormat:
      return number(in, features.dir_format_version);
    case abi::kFeatureBpfProgInfo:
      return bpf_programs(in, features);
    case abi::kFeatureBpfBtf:
      return bpf_btf(in, features);
    case abi::kFeatureCompressed:
      return compressed(in, features);
    case abi::kFeatureCpuPmuCaps:
      return cpu_pmu_caps(in, features);
    case abi::kFeatureClockData:
      return clock_data(in, features);
    case abi::kFeatureHybridTopology:
      return hybrid_topology(in, features);
    case abi::kFeaturePmuCaps:
      return pmu_caps(in, features);
    case abi::kFeatureCpuDomainInfo:
      return cpu_domain_info(in, features);
    default:
      return decode_added(bit, in, features);
  }
}

/// Takes over from `from` what one section filled in. A section may come twice in a pipe: lists
/// grow.
void merge(Features& into, Features&& from) {
  auto take = [](auto& to, auto& value) {
    if (value) to = std::move(value);
  };
  auto append = [](auto& to, auto& values) {
    to.insert(to.end(), std::make_move_iterator(values.begin()),
              std::make_move_iterator(values.end()));
  };
  take(into.hostname, from.hostname);
  take(into.os_release, from.os_release);
  take(into.version, from.version);
  take(into.arch, from.arch);
  take(into.cpu_desc, from.cpu_desc);
  take(into.cpu_id, from.cpu_id);
  take(into.cpus_available, from.cpus_available);
  take(into.cpus_online, from.cpus_online);
  take(into.total_mem_kb, from.total_mem_kb);
  take(into.cpu_topology, from.cpu_topology);
  take(into.sched_domains, from.sched_domains);
  take(into.sample_time, from.sample_time);
  take(into.mem_topology, from.mem_topology);
  take(into.clock_resolution_ns, from.clock_resolution_ns);
  take(into.clock_data, from.clock_data);
  take(into.dir_format_version, from.dir_format_version);
  take(into.compressed, from.compressed);
  into.branch_stack |= from.branch_stack;
  append(into.command_line, from.command_line);
  append(into.build_ids, from.build_ids);
  append(into.numa, from.numa);
  append(into.pmu_mappings, from.pmu_mappings);
  append(into.groups, from.groups);
  append(into.caches, from.caches);
  append(into.bpf_programs, from.bpf_programs);
  append(into.bpf_btf, from.bpf_btf);
  append(into.hybrid_pmus, from.hybrid_pmus);
  append(into.event_descriptions, from.event_descriptions);
  append(into.auxtrace_index, from.auxtrace_index);
  append(into.simpleperf_meta, from.simpleperf_meta);
  append(into.simpleperf_files, from.simpleperf_files);
  append(into.interpreted_files, from.interpreted_files);
  append(into.pmu_caps, from.pmu_caps);
  if (!from.tracing_data.empty()) into.tracing_data = from.tracing_data;
}

}  // namespace
}  // namespace feature

bool decode_feature(uint32_t bit, Bytes section, ByteOrder order, Features& features) {
  ByteCursor in(section, order);
  Features decoded;
  // CPU_TOPOLOGY has an entry per CPU, but only NRCPUS says how many CPUs there are.
  decoded.cpus_available = features.cpus_available;
  if (!feature::decode(bit, in, decoded)) return false;
  feature::merge(features, std::move(decoded));
  return true;
}

}  // namespace sonde
