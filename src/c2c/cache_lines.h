// Which cache lines several CPUs fight for: the accesses of a recording, by line and, in each line,
// by offset and what the options name besides.
//
// A line is a line of a file or of the kernel, whatever address it is mapped at; memory without a
// file belongs to its process. Everything is in time order, so that a line's address is that of its
// first access.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "c2c/access_counts.h"
#include "c2c/options.h"
#include "replay/session.h"

namespace sonde::c2c {

/// Small numbers, in order.
class IdSet {
 public:
  void add(uint32_t id);
  [[nodiscard]] const std::vector<uint32_t>& ids() const { return ids_; }
  [[nodiscard]] size_t size() const { return ids_.size(); }
  [[nodiscard]] bool empty() const { return ids_.empty(); }
  /// "0-2,5".
  [[nodiscard]] std::string text() const;

 private:
  std::vector<uint32_t> ids_;
};

class Mean {
 public:
  void add(uint64_t value) {
    ++count_;
    mean_ += (static_cast<double>(value) - mean_) / static_cast<double>(count_);
  }
  [[nodiscard]] double value() const { return mean_; }

 private:
  double mean_ = 0;
  uint64_t count_ = 0;
};

/// Where accesses came from and went to.
struct Places {
  IdSet cpus;
  IdSet memory_nodes;             // of the physical addresses
  uint64_t physical_changes = 0;  // how often the physical address was another than before
  uint64_t last_physical = 0;
  void add(const Sample& sample, uint32_t memory_node);
};

struct LineRow {
  uint32_t first_sample = 0;
  uint64_t offset = 0;  // in the line
  uint64_t code = 0;    // run-time address
  AccessCounts counts;
  Places places;
  std::map<uint32_t, AccessCounts> by_node;                            // of the CPUs
  Mean remote_hitm, local_hitm, remote_peer, local_peer, other_loads;  // latencies, in cycles
  std::vector<uint32_t> samples;  // with call chains, if there are any
};

struct CacheLine {
  uint64_t address = 0;
  uint64_t period = 0;  // of its samples
  AccessCounts counts;
  Places places;
  std::vector<LineRow> rows;  // by offset, then those with the most loads of the display first
};

/// The NUMA nodes of a recording.
class Nodes {
 public:
  explicit Nodes(const Features& features);
  /// Those with CPUs, by position in the recording; at least one.
  [[nodiscard]] size_t size() const { return cpus_.size(); }
  [[nodiscard]] uint32_t of_cpu(uint32_t cpu) const;
  [[nodiscard]] IdSet cpus_of(size_t node, const IdSet& among) const;
  static constexpr uint32_t kNone = UINT32_MAX;
  /// kNone if the recording does not say.
  [[nodiscard]] uint32_t of_physical(uint64_t address) const;

 private:
  struct Block {
    uint64_t start, end;
    uint32_t node;
  };
  std::vector<std::vector<uint32_t>> cpus_;  // by node
  std::vector<uint32_t> node_of_cpu_;
  std::vector<Block> blocks_;
};

struct CacheLines {
  AccessCounts all;
  AccessCounts shared;  // lines with loads that another CPU's cache served
  uint64_t shared_lines = 0;
  std::vector<CacheLine> lines;  // that are shown, those with the most loads of the display first
};

/// The session must have been opened with symbols.
[[nodiscard]] CacheLines find_cache_lines(const Session& session, const Nodes& nodes,
                                          const Options& options);

/// The loads that the display is about.
[[nodiscard]] uint64_t displayed(const AccessCounts& counts, Display display);

}  // namespace sonde::c2c
