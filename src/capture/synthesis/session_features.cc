#include "capture/synthesis/session_features.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/thread_map.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

std::optional<std::string> line_of(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

uint32_t number_of(const std::string& path, uint32_t otherwise) {
  std::optional<std::string> line = line_of(path);
  std::optional<uint64_t> number = line ? parse_number(*line) : std::nullopt;
  return number ? static_cast<uint32_t>(*number) : otherwise;
}

/// The value after "key : value" or "key: value".
std::optional<std::string_view> field(std::string_view text, std::string_view key) {
  size_t at = text.starts_with(key) ? 0 : text.find(fmt::format("\n{}", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = text.substr(at == 0 ? 0 : at + 1);
  line = line.substr(0, line.find('\n'));
  size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return trim(line.substr(colon + 1));
}

/// "5073100 kB"
uint64_t kilobytes(std::string_view value) {
  return parse_number(value.substr(0, value.find(' '))).value_or(0);
}

void add_once(std::vector<std::string>& list, std::optional<std::string> item) {
  if (item && std::ranges::find(list, *item) == list.end()) list.push_back(std::move(*item));
}

std::optional<CacheLevel> read_cache(const std::string& directory) {
  std::optional<std::string> type = line_of(directory + "/type");
  std::optional<std::string> size = line_of(directory + "/size");
  // If the firmware does not describe the caches, the kernel only knows that they exist.
  if (!type || !size) return std::nullopt;
  CacheLevel cache{};
  cache.type = std::move(*type);
  cache.level = number_of(directory + "/level", 0);
  cache.line_size = number_of(directory + "/coherency_line_size", 0);
  cache.sets = number_of(directory + "/number_of_sets", 0);
  cache.ways = number_of(directory + "/ways_of_associativity", 0);
  cache.size = std::move(*size);
  cache.cpus = line_of(directory + "/shared_cpu_list").value_or("");
  return cache;
}

std::vector<PmuMapping> pmu_mappings() {
  std::vector<PmuMapping> mappings;
  PmuCatalog pmus;
  for (const Pmu* pmu : pmus.all()) mappings.push_back({pmu->type(), pmu->name()});
  return mappings;
}

void collect_core_pmus(Features& features) {
  PmuCatalog pmus;
  for (const Pmu* pmu : pmus.core()) {
    std::vector<std::pair<std::string, std::string>> caps = pmu->caps();
    if (!caps.empty()) features.pmu_caps.push_back({pmu->name(), std::move(caps)});
    if (pmu->name().starts_with("cpu_"))
      features.hybrid_pmus.push_back({pmu->name(), cpu_list_text(pmu->cpus())});
  }
}

void collect_cpuinfo(Features& features) {
  Result<std::string> info = read_file("/proc/cpuinfo");
  if (!info) return;
  features.cpu_desc = cpu_description_of(*info);
  features.cpu_id = cpu_id_of(*info);
  std::string first_cpu = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
  if (std::optional<std::string> midr = line_of(first_cpu); midr && !features.cpu_id)
    features.cpu_id = cpu_id_of_midr(*midr);
}

}  // namespace

std::optional<std::string> cpu_description_of(std::string_view cpuinfo) {
  std::optional<std::string_view> model = field(cpuinfo, "model name");
  if (!model) return std::nullopt;
  std::string text;
  for (char c : *model)
    if (c != ' ' || !text.ends_with(' ')) text += c;
  return text;
}

std::optional<std::string> cpu_id_of(std::string_view cpuinfo) {
  std::optional<std::string_view> vendor = field(cpuinfo, "vendor_id");
  std::optional<std::string_view> family = field(cpuinfo, "cpu family");
  std::optional<std::string_view> model = field(cpuinfo, "model\t");
  std::optional<std::string_view> stepping = field(cpuinfo, "stepping");
  if (!vendor || !family || !model || !stepping) return std::nullopt;
  return fmt::format("{},{},{},{}", *vendor, *family, *model, *stepping);
}

std::optional<std::string> cpu_id_of_midr(std::string_view midr) {
  constexpr uint64_t kVariantAndRevision = 0xf0000f;
  std::optional<uint64_t> value = parse_hex(midr.starts_with("0x") ? midr.substr(2) : midr);
  if (!value) return std::nullopt;
  return fmt::format("{:#018x}", *value & ~kVariantAndRevision);
}

CpuTopology read_cpu_topology(const std::string& sys, uint32_t cpu_count) {
  CpuTopology topology;
  for (uint32_t cpu = 0; cpu < cpu_count; ++cpu) {
    std::string directory = fmt::format("{}/devices/system/cpu/cpu{}/topology/", sys, cpu);
    // The lists' names since Linux 5.2 and before.
    auto list = [&](const char* now, const char* before) {
      std::optional<std::string> text = line_of(directory + now);
      return text ? text : line_of(directory + before);
    };
    add_once(topology.core_siblings, list("package_cpus_list", "core_siblings_list"));
    add_once(topology.die_siblings, line_of(directory + "die_cpus_list"));
    add_once(topology.thread_siblings, list("core_cpus_list", "thread_siblings_list"));
    topology.cpus.push_back({.core = number_of(directory + "core_id", UINT32_MAX),
                             .socket = number_of(directory + "physical_package_id", UINT32_MAX),
                             .die = number_of(directory + "die_id", UINT32_MAX)});
  }
  return topology;
}

std::vector<uint32_t> read_clusters(const std::string& sys, uint32_t cpu_count) {
  std::vector<uint32_t> clusters;
  for (uint32_t cpu = 0; cpu < cpu_count; ++cpu)
    clusters.push_back(number_of(
        fmt::format("{}/devices/system/cpu/cpu{}/topology/cluster_id", sys, cpu), UINT32_MAX));
  return clusters;
}

std::vector<CacheLevel> read_caches(const std::string& sys, uint32_t cpu_count) {
  std::vector<CacheLevel> caches;
  constexpr int kMaxLevels = 16;
  for (uint32_t cpu = 0; cpu < cpu_count; ++cpu)
    for (int index = 0; index < kMaxLevels; ++index) {
      std::optional<CacheLevel> cache =
          read_cache(fmt::format("{}/devices/system/cpu/cpu{}/cache/index{}", sys, cpu, index));
      if (!cache) break;
      bool known = std::ranges::any_of(caches, [&](const CacheLevel& other) {
        return other.level == cache->level && other.type == cache->type &&
               other.cpus == cache->cpus;
      });
      if (!known) caches.push_back(std::move(*cache));
    }
  // By level, as perf shows them.
  std::ranges::stable_sort(caches, {}, &CacheLevel::level);
  return caches;
}

std::vector<NumaNode> read_numa(const std::string& sys) {
  std::vector<NumaNode> nodes;
  std::string root = sys + "/devices/system/node";
  std::optional<std::string> online = line_of(root + "/online");
  std::optional<std::vector<int>> numbers =
      online ? parse_cpu_list(*online) : std::optional<std::vector<int>>();
  if (!numbers) return nodes;
  for (int number : *numbers) {
    std::string directory = fmt::format("{}/node{}", root, number);
    std::string info = read_file(directory + "/meminfo").value_or("");
    std::string prefix = fmt::format("Node {} ", number);
    std::string total_key = prefix + "MemTotal";
    std::string free_key = prefix + "MemFree";
    nodes.push_back({static_cast<uint32_t>(number), kilobytes(field(info, total_key).value_or("")),
                     kilobytes(field(info, free_key).value_or("")),
                     line_of(directory + "/cpulist").value_or("")});
  }
  return nodes;
}

std::optional<MemTopology> read_mem_topology(const std::string& sys) {
  std::optional<std::string> block = line_of(sys + "/devices/system/memory/block_size_bytes");
  std::optional<uint64_t> size = block ? parse_hex(*block) : std::nullopt;
  if (!size) return std::nullopt;
  MemTopology topology{.version = 1, .block_size = *size, .nodes = {}};
  for (const NumaNode& node : read_numa(sys)) {
    MemTopology::Node& entry = topology.nodes.emplace_back();
    entry.node = node.node;
    std::string directory = fmt::format("{}/devices/system/node/node{}", sys, node.node);
    uint64_t highest = 0;
    for (uint64_t number : numbered_entries(directory, "memory")) {
      constexpr uint64_t kMaxBlocks = uint64_t{1} << 32;
      if (number >= kMaxBlocks) continue;
      highest = std::max(highest, number + 1);
      entry.bitmap.resize(std::max<size_t>(entry.bitmap.size(), number / 64 + 1));
      entry.bitmap[number / 64] |= uint64_t{1} << (number % 64);
    }
    entry.block_bits = highest;
  }
  return topology;
}

void collect_machine_features(Features& features) {
  utsname system{};
  if (::uname(&system) == 0) {
    features.hostname = system.nodename;
    features.os_release = system.release;
    features.arch = system.machine;
  }
  uint32_t cpus = present_cpu_count();
  features.cpus_available = cpus;
  features.cpus_online = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  collect_cpuinfo(features);
  if (Result<std::string> memory = read_file("/proc/meminfo"))
    features.total_mem_kb = kilobytes(field(*memory, "MemTotal").value_or(""));
  features.cpu_topology = read_cpu_topology("/sys", cpus);
  features.numa = read_numa("/sys");
  features.pmu_mappings = pmu_mappings();
  features.caches = read_caches("/sys", cpus);
  features.mem_topology = read_mem_topology("/sys");
  collect_core_pmus(features);
}

void collect_clock(int32_t clockid, Features& features) {
  timespec resolution{};
  if (::clock_getres(clockid, &resolution) == 0)
    features.clock_resolution_ns = static_cast<uint64_t>(resolution.tv_sec) * 1'000'000'000 +
                                   static_cast<uint64_t>(resolution.tv_nsec);
  auto to_ns = [](const timespec& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  };
  timespec wall{};
  timespec clock{};
  if (::clock_gettime(CLOCK_REALTIME, &wall) != 0 || ::clock_gettime(clockid, &clock) != 0) return;
  features.clock_data = ClockData{1, static_cast<uint32_t>(clockid), to_ns(wall), to_ns(clock)};
}

}  // namespace sonde
