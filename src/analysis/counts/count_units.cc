#include "analysis/counts/count_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "event/pmu/pmu.h"

namespace sonde {
namespace {

using view::CountGrouping;

/// Orders units and identifies them.
using UnitKey = std::array<int, 4>;

int as_int(uint32_t id) {
  return id == UINT32_MAX ? -1 : static_cast<int>(id);
}

UnitKey key_of(CountGrouping grouping, int cpu, const CpuPlace& place) {
  switch (grouping) {
    case CountGrouping::kCore:
      return {place.socket, place.die, place.core, 0};
    case CountGrouping::kCluster:
      return {place.socket, place.die, place.cluster, 0};
    case CountGrouping::kDie:
      return {place.socket, place.die, 0, 0};
    case CountGrouping::kSocket:
      return {place.socket, 0, 0, 0};
    case CountGrouping::kNode:
      return {place.node, 0, 0, 0};
    case CountGrouping::kCache:
      return {place.socket, place.die, place.cache_level, place.cache};
    case CountGrouping::kCpu:
      return {cpu, 0, 0, 0};
    default:
      return {};
  }
}

view::CountUnit unit_for(CountGrouping grouping, const UnitKey& key) {
  view::CountUnit unit{.grouping = grouping, .head = {}, .tail = {}};
  auto name = [&](std::string head, int tail) {
    unit.head = std::move(head);
    unit.tail = std::to_string(tail);
  };
  switch (grouping) {
    case CountGrouping::kCore:
      name(fmt::format("S{}-D{}-C", key[0], key[1]), key[2]);
      break;
    case CountGrouping::kCluster:
      name(fmt::format("S{}-D{}-CLS", key[0], key[1]), key[2]);
      break;
    case CountGrouping::kDie:
      name(fmt::format("S{}-D", key[0]), key[1]);
      break;
    case CountGrouping::kSocket:
      name("S", key[0]);
      break;
    case CountGrouping::kNode:
      name("N", key[0]);
      break;
    case CountGrouping::kCache:
      name(fmt::format("S{}-D{}-L{}-ID", key[0], key[1], key[2]), key[3]);
      break;
    case CountGrouping::kCpu:
      name("CPU", key[0]);
      break;
    default:
      break;
  }
  return unit;
}

}  // namespace

CpuLocations::CpuLocations(const CpuTopology* topology, const std::vector<NumaNode>& nodes,
                           const std::vector<CacheLevel>& caches,
                           const std::vector<uint32_t>& clusters) {
  auto at = [this](int cpu) -> CpuPlace& {
    if (static_cast<size_t>(cpu) >= places_.size()) places_.resize(static_cast<size_t>(cpu) + 1);
    return places_[static_cast<size_t>(cpu)];
  };
  if (topology != nullptr)
    for (size_t cpu = 0; cpu < topology->cpus.size(); ++cpu) {
      const CpuTopology::Cpu& ids = topology->cpus[cpu];
      CpuPlace& place = at(static_cast<int>(cpu));
      place.socket = as_int(ids.socket);
      // Recordings from before Linux 5.1 have no dies: there is one per socket.
      place.die = std::max(as_int(ids.die), 0);
      place.core = as_int(ids.core);
    }
  for (size_t cpu = 0; cpu < clusters.size(); ++cpu)
    at(static_cast<int>(cpu)).cluster = as_int(clusters[cpu]);
  for (const NumaNode& node : nodes)
    if (auto cpus = parse_cpu_list(node.cpus))
      for (int cpu : *cpus) at(cpu).node = static_cast<int>(node.node);
  for (const CacheLevel& cache : caches) {
    auto cpus = parse_cpu_list(cache.cpus);
    if (!cpus || cpus->empty()) continue;
    for (int cpu : *cpus) {
      CpuPlace& place = at(cpu);
      if (static_cast<int>(cache.level) < place.cache_level) continue;
      place.cache_level = static_cast<int>(cache.level);
      place.cache = cpus->front();
    }
  }
}

CpuPlace CpuLocations::operator[](int cpu) const {
  if (cpu < 0 || static_cast<size_t>(cpu) >= places_.size()) return {};
  return places_[static_cast<size_t>(cpu)];
}

CountUnits::CountUnits(CountGrouping grouping, const std::vector<int>& cpus,
                       const std::vector<CountedThread>& threads, const CpuLocations& places)
    : grouping_(grouping) {
  if (grouping == CountGrouping::kAll) {
    units_.emplace_back();
    return;
  }
  if (grouping == CountGrouping::kThread) {
    for (const CountedThread& thread : threads)
      units_.push_back({grouping, thread.comm, std::to_string(thread.tid)});
    return;
  }
  std::map<UnitKey, size_t> keys;
  for (int cpu : cpus) keys.emplace(key_of(grouping, cpu, places[cpu]), 0);
  for (auto& [key, index] : keys) {
    index = units_.size();
    units_.push_back(unit_for(grouping, key));
  }
  for (int cpu : cpus) unit_of_cpu_[cpu] = keys[key_of(grouping, cpu, places[cpu])];
}

size_t CountUnits::unit_of(int cpu, size_t thread) const {
  if (grouping_ == CountGrouping::kAll) return 0;
  if (grouping_ == CountGrouping::kThread) return std::min(thread, units_.size() - 1);
  auto found = unit_of_cpu_.find(cpu);
  return found == unit_of_cpu_.end() ? 0 : found->second;
}

}  // namespace sonde
