// The units that counts are added up for: the whole machine, CPUs, cores, dies, sockets, nodes,
// caches, threads. The location of each CPU comes from a topology: this machine's or a recording's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "perfdata/header/features.h"
#include "view/counting.h"

namespace sonde {

/// Where a CPU is in the topology; -1 for what is not known.
struct CpuPlace {
  int socket = -1, die = -1, core = -1, node = -1;
  int cluster = -1;                  // cores that share a cache or a tag; see cluster_id of sysfs
  int cache_level = -1, cache = -1;  // its largest cache, named after the first CPU that shares it
};

class CpuLocations {
 public:
  CpuLocations() = default;
  CpuLocations(const CpuTopology* topology, const std::vector<NumaNode>& nodes,
               const std::vector<CacheLevel>& caches,
               const std::vector<uint32_t>& clusters = {});  // by CPU
  [[nodiscard]] CpuPlace operator[](int cpu) const;

 private:
  std::vector<CpuPlace> places_;
};

/// A thread that counts belong to.
struct CountedThread {
  int tid = -1;
  std::string comm;
};

/// Units of one kind in ascending order, and which one a counter belongs to.
class CountUnits {
 public:
  CountUnits(view::CountGrouping grouping, const std::vector<int>& cpus,
             const std::vector<CountedThread>& threads, const CpuLocations& places);

  [[nodiscard]] view::CountGrouping grouping() const { return grouping_; }
  [[nodiscard]] const std::vector<view::CountUnit>& units() const { return units_; }
  [[nodiscard]] size_t size() const { return units_.size(); }
  /// `thread` is an index into the list of threads.
  [[nodiscard]] size_t unit_of(int cpu, size_t thread) const;

 private:
  view::CountGrouping grouping_;
  std::vector<view::CountUnit> units_;
  std::map<int, size_t> unit_of_cpu_;
};

}  // namespace sonde
