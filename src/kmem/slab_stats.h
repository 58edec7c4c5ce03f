// Objects of the slab allocator: how many bytes were requested and allocated, by object and by call
// site, as in `perf kmem stat --slab`.
#pragma once

#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/error.h"
#include "base/hashing/number_hash.h"
#include "kmem/kmem_event.h"

namespace sonde {

/// A row of a table: the allocations at one address, or by one call site.
struct SlabRow {
  uint64_t what = 0;       // the address
  uint64_t call_site = 0;  // for an object: the last one
  uint64_t requested = 0, allocated = 0;
  uint64_t hits = 0;
  uint64_t ping_pongs = 0;  // freed by another CPU than the one that allocated

  /// The percentage of the allocated memory that was not requested.
  [[nodiscard]] double fragmentation() const;
};

struct SlabTotals {
  uint64_t requested = 0, allocated = 0, freed = 0;  // bytes
  uint64_t allocations = 0;
  uint64_t cross_node = 0;     // for another NUMA node than the CPU's
  uint64_t unknown_frees = 0;  // of objects from before the recording
};

class SlabStats {
 public:
  /// `nodes`: the NUMA node of each CPU; a CPU beyond it has none.
  explicit SlabStats(std::vector<int32_t> nodes) : nodes_(std::move(nodes)) {}

  void consume(const KmemEvent& event);

  [[nodiscard]] const SlabTotals& sums() const { return sums_; }
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
  SlabTotals sums_;
};

/// The keys of `-s`: ptr, callsite, bytes, hit, pingpong, frag. Sorts the rows stably, largest
/// first. Fails with kUsage on an unknown key.
Result<> sort_slab_rows(std::vector<SlabRow>& rows, std::string_view keys);

}  // namespace sonde
