// Memory accesses, counted by how they were served: by which cache, by another CPU's modified copy
// of the line, by memory, and where that was. The meaning of the bits is that of union
// perf_mem_data_src (include/uapi/linux/perf_event.h).
#pragma once

#include <cstdint>

namespace sonde::c2c {

struct AccessCounts {
  uint64_t records = 0;
  uint64_t locked = 0;
  uint64_t blocked_by_data = 0, blocked_by_address = 0;

  uint64_t loads = 0;
  uint64_t loads_without_address = 0;
  uint64_t uncacheable_loads = 0, io_loads = 0, missing_loads = 0;
  uint64_t fill_buffer_hits = 0, l1_hits = 0, l2_hits = 0, llc_hits = 0;
  uint64_t local_hitm = 0, remote_hitm = 0;  // served by a cache that had modified the line
  uint64_t local_peer = 0, remote_peer = 0;  // served by another core's cache
  uint64_t remote_hits = 0;
  uint64_t local_memory = 0, remote_memory = 0;
  uint64_t exclusive = 0, shared = 0;  // state of lines from memory

  uint64_t stores = 0;
  uint64_t stores_without_address = 0;
  uint64_t uncacheable_stores = 0;
  uint64_t store_l1_hits = 0, store_l1_misses = 0, stores_of_unknown_level = 0;

  uint64_t unmapped = 0;  // accesses whose code or data is in no mapping
  uint64_t unparsed = 0;  // neither loads nor stores

  void add(const AccessCounts& other);

  [[nodiscard]] uint64_t all_hitm() const { return local_hitm + remote_hitm; }
  [[nodiscard]] uint64_t all_peer() const { return local_peer + remote_peer; }
  /// Loads that the last-level cache did not serve.
  [[nodiscard]] uint64_t llc_misses() const {
    return local_memory + remote_memory + remote_hits + remote_hitm;
  }
  /// Loads whose source is known, each counted once per source that it names.
  [[nodiscard]] uint64_t served_loads() const {
    return llc_misses() + fill_buffer_hits + l1_hits + l2_hits + llc_hits + local_hitm;
  }
  [[nodiscard]] uint64_t served() const {
    return served_loads() + store_l1_hits + store_l1_misses + stores_of_unknown_level;
  }
};

/// The counts of one access. `is_mapped`: both its code and its data are in a mapping.
[[nodiscard]] AccessCounts counts_of(uint64_t data_src, uint64_t data_address, bool is_mapped);

}  // namespace sonde::c2c
