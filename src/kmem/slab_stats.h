// Objects of the slab allocator: how many bytes were asked for and given, by object and by call
// site. What `perf kmem stat --slab` shows.
#pragma once

#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/error.h"
#include "base/number_hash.h"
#include "kmem/kmem_event.h"

namespace sonde {

/// A line of a table: allocations at one address, or by one call site.
struct SlabRow {
  uint64_t what = 0;       // the address
  uint64_t call_site = 0;  // of an object: the last one
  uint64_t requested = 0, allocated = 0;
  uint64_t hits = 0;
  uint64_t ping_pongs = 0;  // freed by another CPU than the one that allocated

  /// Percent of the memory given that nobody asked for.
  [[nodiscard]] double fragmentation() const;
};

struct SlabSums {
  uint64_t requested = 0, allocated = 0, freed = 0;  // bytes
  uint64_t allocations = 0;
  uint64_t cross_node = 0;     // for another NUMA node than that of the CPU
  uint64_t unknown_frees = 0;  // of objects from before the recording
};

class SlabStats {
 public:
  /// `nodes`: the NUMA node of each CPU; a CPU beyond it has none.
  explicit SlabStats(std::vector<int32_t> nodes) : nodes_(std::move(nodes)) {}

  void take(const KmemEvent& event);

  [[nodiscard]] const SlabSums& sums() const { return sums_; }
  /// By address.
  [[nodiscard]] std::vector<SlabRow> objects() const;
  [[nodiscard]] std::vector<SlabRow> callers() const;

 private:
  struct Object {
    SlabRow row;
    uint64_t last_allocated = 0;  // bytes
    int32_t cpu = -1;             // that allocated it; -1: it was freed
  };
  void allocate(const KmemEvent& event);
  void free(const KmemEvent& event);
  [[nodiscard]] int32_t node_of(uint32_t cpu) const {
    return cpu < nodes_.size() ? nodes_[cpu] : -1;
  }

  std::vector<int32_t> nodes_;
  tsl::robin_map<uint64_t, Object, NumberHash> objects_;
  tsl::robin_map<uint64_t, SlabRow, NumberHash> callers_;
  SlabSums sums_;
};

/// Keys of `-s`: ptr, callsite, bytes, hit, pingpong, frag. The rows are sorted stably, largest
/// first. kUsage where a key is none.
Result<> sort_slab_rows(std::vector<SlabRow>& rows, std::string_view keys);

}  // namespace sonde
