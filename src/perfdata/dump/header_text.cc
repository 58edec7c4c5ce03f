#include "perfdata/dump/header_text.h"

#include <ctime>
#include <map>

#include "event/pmu/attr_text.h"
#include "perfdata/dump/bpf_program_text.h"

namespace sonde {
namespace {

std::string seconds_text(uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

/// "24G": divided by 1024 while more than 1 is left.
std::string size_text(uint64_t bytes) {
  constexpr std::string_view kUnits = "BKMG";
  size_t unit = 0;
  while (bytes / 1024 > 1 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

/// The set bits as "0-3,8".
std::string bit_ranges(const std::vector<uint64_t>& bitmap) {
  std::string out;
  auto is_set = [&](size_t bit) { return (bitmap[bit / 64] >> (bit % 64) & 1) != 0; };
  size_t bits = bitmap.size() * 64;
  for (size_t bit = 0; bit < bits; ++bit) {
    if (!is_set(bit)) continue;
    size_t last = bit;
    while (last + 1 < bits && is_set(last + 1)) ++last;
    if (!out.empty()) out += ',';
    out += last == bit ? fmt::format("{}", bit) : fmt::format("{}-{}", bit, last);
    bit = last;
  }
  return out;
}

std::string_view clock_name(uint32_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
      return "realtime";
    case CLOCK_MONOTONIC:
      return "monotonic";
    case CLOCK_MONOTONIC_RAW:
      return "monotonic_raw";
    case CLOCK_BOOTTIME:
      return "boottime";
    case CLOCK_TAI:
      return "tai";
    default:
      return "not found";
  }
}

class HeaderWriter {
 public:
  HeaderWriter(Sink& out, const Recording& recording, bool full)
      : out_(out), recording_(recording), features_(recording.features()), full_(full) {}

  void write() {
    const FileFacts& facts = recording_.facts();
    out_.write("# ========\n");
    std::time_t when =
        facts.modified_ns != 0 ? facts.modified_ns / 1'000'000'000 : std::time(nullptr);
    char text[32] = "";
    // The text ends its line itself.
    if (ctime_r(&when, text) != nullptr) out_.write(fmt::format("# captured on    : {}", text));
    // perf counts the versions from 0.
    out_.print("# header version : {}\n", facts.header_version - 1);
    out_.print("# data offset    : {}\n", facts.is_pipe ? 0 : facts.data_offset);
    out_.print("# data size      : {}\n", facts.is_pipe ? 0 : facts.data_size);
    out_.print("# feat offset    : {}\n", facts.feature_offset);
    if (facts.is_pipe) out_.write("# ========\n#\n");
    for (uint32_t feature : features_.present) write_feature(feature);
    if (facts.is_pipe) return;
    write_missing();
    out_.write("# ========\n#\n");
  }

 private:
  void write_missing() {
    out_.write("# missing features: ");
    for (uint32_t feature = abi::kFeatureTracingData; feature <= abi::kFeaturePmuCaps; ++feature)
      if (!features_.has(feature)) out_.print("{} ", abi::feature_name(feature));
    out_.put('\n');
  }

  void write_feature(uint32_t feature) {
    switch (feature) {
      case abi::kFeatureHostname:
        return line("hostname", features_.hostname);
      case abi::kFeatureOsRelease:
        return line("os release", features_.os_release);
      case abi::kFeatureVersion:
        return line("perf version", features_.version);
      case abi::kFeatureArch:
        return line("arch", features_.arch);
      case abi::kFeatureNrCpus:
        out_.print("# nrcpus online : {}\n", features_.cpus_online.value_or(0));
        out_.print("# nrcpus avail : {}\n", features_.cpus_available.value_or(0));
        return;
      case abi::kFeatureCpuDesc:
        return line("cpudesc", features_.cpu_desc);
      case abi::kFeatureCpuId:
        return line("cpuid", features_.cpu_id);
      case abi::kFeatureTotalMem:
        out_.print("# total memory : {} kB\n", features_.total_mem_kb.value_or(0));
        return;
      case abi::kFeatureCmdline:
        return write_command_line();
      case abi::kFeatureEventDesc:
        return write_events();
      case abi::kFeatureCpuTopology:
        return in_full(feature, &HeaderWriter::write_cpu_topology);
      case abi::kFeatureNumaTopology:
        return in_full(feature, &HeaderWriter::write_numa);
      case abi::kFeatureBranchStack:
        out_.write("# contains samples with branch stack\n");
        return;
      case abi::kFeaturePmuMappings:
        return write_pmus();
      case abi::kFeatureGroupDesc:
        return write_groups();
      case abi::kFeatureAuxtrace:
        out_.write("# contains AUX area data (e.g. instruction trace)\n");
        return;
      case abi::kFeatureStat:
        out_.write("# contains stat data\n");
        return;
      case abi::kFeatureCache:
        return in_full(feature, &HeaderWriter::write_caches);
      default:
        return write_later_feature(feature);
    }
  }

  void write_later_feature(uint32_t feature) {
    switch (feature) {
      case abi::kFeatureSampleTime:
        return write_sample_time();
      case abi::kFeatureMemTopology:
        return in_full(feature, &HeaderWriter::write_memory);
      case abi::kFeatureClockId:
        out_.print("# clockid frequency: {} MHz\n",
                   features_.clock_resolution_ns.value_or(0) * 1000);
        return;
      case abi::kFeatureDirFormat:
        out_.print("# directory data version : {}\n", features_.dir_format_version.value_or(0));
        return;
      case abi::kFeatureBpfProgInfo:
        return write_bpf_programs(out_, features_, recording_.byte_order());
      case abi::kFeatureBpfBtf:
        for (const auto& btf : features_.bpf_btf) out_.print("# btf info of id {}\n", btf.first);
        return;
      case abi::kFeatureCompressed:
        return write_compression();
      case abi::kFeatureClockData:
        return write_clock();
      case abi::kFeatureHybridTopology:
        return in_full(feature, &HeaderWriter::write_hybrid);
      case abi::kFeatureCpuPmuCaps:
        return write_caps(true);
      case abi::kFeaturePmuCaps:
        return write_caps(false);
      case abi::kFeatureCpuDomainInfo:
        return in_full(feature, &HeaderWriter::write_sched_domains);
      case abi::kFeatureInterpretedFiles:
        return write_interpreted_files();
      default:
        return;
    }
  }

  void write_interpreted_files() {
    size_t functions = 0;
    std::map<std::pair<uint64_t, std::string_view>, size_t>
        by_file;  // in a pipe they come in pieces
    for (const InterpretedFile& file : features_.interpreted_files) {
      functions += file.functions.size();
      by_file[{file.start, file.path}] += file.functions.size();
    }
    out_.print("# interpreted functions : {} of {} source files\n", functions, by_file.size());
    if (!full_) return;
    for (const auto& [file, count] : by_file)
      out_.print("#  {:#x}: {} of {}\n", file.first, count, file.second);
  }

  void write_hybrid() {
    out_.write("# hybrid cpu system:\n");
    for (const HybridPmu& pmu : features_.hybrid_pmus)
      out_.print("# {} cpu list : {}\n", pmu.name, pmu.cpus);
  }

  void line(std::string_view name, const std::optional<std::string>& value) {
    out_.print("# {} : {}\n", name, value.value_or(""));
  }
  void in_full(uint32_t feature, void (HeaderWriter::*write_feature_text)()) {
    if (full_)
      (this->*write_feature_text)();
    else
      out_.print("# {} info available, use -I to display\n", abi::feature_name(feature));
  }

  void write_command_line() {
    out_.write("# cmdline : ");
    for (const std::string& word : features_.command_line) {
      std::string quoted;
      for (char c : word) {
        if (c == '\'') quoted += '\\';
        quoted += c;
      }
      out_.print("{} ", quoted);
    }
    out_.put('\n');
  }

  void write_events() {
    for (const EventDesc& event : recording_.events().all()) {
      out_.print("# event : name = {}, ", event.name);
      if (!event.ids.empty()) {
        out_.write(", id = {");
        for (size_t i = 0; i < event.ids.size(); ++i)
          out_.print("{} {}", i == 0 ? "" : ",", event.ids[i]);
        out_.write(" }");
      }
      std::string attr = attr_line(event.attr);
      for (size_t at = attr.find(": "); at != std::string::npos; at = attr.find(": ", at + 3))
        attr.replace(at, 2, " = ");
      if (!attr.empty()) out_.print(", {}", attr);
      out_.put('\n');
    }
  }

  // A feature that is present may be damaged, and then is not known.

  void write_cpu_topology() {
    if (!features_.cpu_topology) return;
    const CpuTopology& topology = *features_.cpu_topology;
    for (const std::string& cpus : topology.core_siblings)
      out_.print("# sibling sockets : {}\n", cpus);
    for (const std::string& cpus : topology.die_siblings)
      out_.print("# sibling dies    : {}\n", cpus);
    for (const std::string& cpus : topology.thread_siblings)
      out_.print("# sibling threads : {}\n", cpus);
    if (topology.cpus.empty()) {
      out_.write("# Core ID and Socket ID information is not available\n");
      return;
    }
    for (size_t i = 0; i < topology.cpus.size(); ++i) {
      const CpuTopology::Cpu& cpu = topology.cpus[i];
      auto number = [](uint32_t id) { return static_cast<int32_t>(id); };
      if (topology.die_siblings.empty())
        out_.print("# CPU {}: Core ID {}, Socket ID {}\n", i, number(cpu.core), number(cpu.socket));
      else
        out_.print("# CPU {}: Core ID {}, Die ID {}, Socket ID {}\n", i, number(cpu.core),
                   number(cpu.die), number(cpu.socket));
    }
  }

  void write_numa() {
    for (const NumaNode& node : features_.numa) {
      out_.print("# node{} meminfo  : total = {} kB, free = {} kB\n", node.node, node.total_kb,
                 node.free_kb);
      out_.print("# node{} cpu list : {}\n", node.node, node.cpus);
    }
  }

  void write_pmus() {
    if (features_.pmu_mappings.empty()) {
      out_.write("# pmu mappings: not available\n");
      return;
    }
    std::string_view before = "# pmu mappings: ";
    for (const PmuMapping& pmu : features_.pmu_mappings) {
      out_.print("{}{} = {}", before, pmu.name, pmu.type);
      before = ", ";
    }
    out_.put('\n');
  }

  void write_groups() {
    const EventTable& events = recording_.events();
    for (const GroupDesc& group : features_.groups) {
      if (group.member_count < 2) continue;
      out_.print("# group: {}{{", group.name == "{anon_group}" ? "" : group.name);
      for (uint32_t i = 0; i < group.member_count && group.leader_index + i < events.size(); ++i)
        out_.print("{}{}", i == 0 ? "" : ",", events[EventId(size_t{group.leader_index} + i)].name);
      out_.write("}\n");
    }
  }

  void write_caches() {
    out_.write("# CPU cache info:\n");
    for (const CacheLevel& cache : features_.caches)
      out_.print("#  L{} {:<15} {:>8} [{}]\n", cache.level, cache.type, cache.size, cache.cpus);
  }

  void write_sample_time() {
    SampleTimeRange range = features_.sample_time.value_or(SampleTimeRange{0, 0});
    out_.print("# time of first sample : {}\n", seconds_text(range.first_ns));
    out_.print("# time of last sample : {}\n", seconds_text(range.last_ns));
    out_.print("# sample duration : {:10.3f} ms\n",
               static_cast<double>(range.last_ns - range.first_ns) / 1'000'000.0);
  }

  void write_memory() {
    if (!features_.mem_topology) return;
    const MemTopology& memory = *features_.mem_topology;
    out_.print("# memory nodes (nr {}, block size 0x{:x}):\n", memory.nodes.size(),
               memory.block_size);
    for (const MemTopology::Node& node : memory.nodes) {
      uint64_t blocks = 0;
      for (uint64_t word : node.bitmap) blocks += static_cast<uint64_t>(std::popcount(word));
      out_.print("#  {:3} [{}]: {}\n", node.node, size_text(blocks * memory.block_size),
                 bit_ranges(node.bitmap));
    }
  }

  void write_compression() {
    if (!features_.compressed) return;
    out_.print("# compressed : {}, level = {}, ratio = {}\n",
               features_.compressed->type == 1 ? "Zstd" : "Unknown", features_.compressed->level,
               features_.compressed->ratio);
  }

  void write_clock() {
    if (!features_.clock_data) return;
    const ClockData& clock = *features_.clock_data;
    auto wall = static_cast<std::time_t>(clock.wall_clock_ns / 1'000'000'000);
    uint64_t microseconds = clock.wall_clock_ns % 1'000'000'000 / 1000;
    std::tm local{};
    char date[64] = "";
    if (localtime_r(&wall, &local) != nullptr) std::strftime(date, sizeof date, "%F %T", &local);
    out_.print("# clockid: {} ({})\n", clock_name(clock.clockid), clock.clockid);
    out_.print("# reference time: {}.{:06} = {}.{:06} (TOD) = {}.{:09} ({})\n", date, microseconds,
               wall, microseconds, clock.clockid_ns / 1'000'000'000,
               clock.clockid_ns % 1'000'000'000, clock_name(clock.clockid));
  }

  void write_sched_domains() {
    if (!features_.sched_domains) return;
    const SchedDomains& all = *features_.sched_domains;
    out_.print("# schedstat version\t: {}\n", all.version);
    out_.print("# Maximum sched domains\t: {}\n", all.most_levels);
    for (const SchedDomains::Cpu& cpu : all.cpus) {
      out_.print("# cpu\t\t: {}\n", cpu.cpu);
      out_.print("# nr_domains\t: {}\n", cpu.domains.size());
      for (const SchedDomains::Domain& domain : cpu.domains) {
        out_.print("# Domain\t\t: {}\n", domain.level);
        if (!domain.name.empty()) out_.print("# Domain name      : {}\n", domain.name);
        out_.print("# Domain cpu map   : {}\n", domain.mask);
        out_.print("# Domain cpu list  : {}\n", domain.cpus);
      }
    }
  }

  void write_caps(bool of_cpu) {
    for (const PmuCaps& caps : features_.pmu_caps) {
      if ((caps.pmu == "cpu") != of_cpu) continue;
      if (caps.caps.empty()) {
        out_.print("# {} pmu capabilities: not available\n", caps.pmu);
        continue;
      }
      std::string before = fmt::format("# {} pmu capabilities: ", caps.pmu);
      for (const auto& [name, value] : caps.caps) {
        out_.print("{}{}={}", before, name, value);
        before = ", ";
      }
      out_.put('\n');
    }
  }

  Sink& out_;
  const Recording& recording_;
  const Features& features_;
  bool full_;
};

}  // namespace

void write_header_text(Sink& out, const Recording& recording, bool full) {
  HeaderWriter(out, recording, full).write();
}

}  // namespace sonde
