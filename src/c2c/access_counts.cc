#include "c2c/access_counts.h"

namespace sonde::c2c {
namespace {

constexpr uint64_t bits(uint64_t data_src, unsigned shift, unsigned width) {
  return (data_src >> shift) & ((uint64_t{1} << width) - 1);
}

// mem_op
constexpr uint64_t kLoad = 1 << 1, kStore = 1 << 2;
// mem_lvl
constexpr uint64_t kLevelUnknown = 1 << 0, kHit = 1 << 1, kMiss = 1 << 2, kL1 = 1 << 3,
                   kFillBuffer = 1 << 4, kL2 = 1 << 5, kL3 = 1 << 6, kLocalMemory = 1 << 7,
                   kRemoteMemory = 3 << 8, kRemoteCache = 3 << 10, kIo = 1 << 12,
                   kUncacheable = 1 << 13;
// mem_snoop and mem_snoopx
constexpr uint64_t kSnoopHit = 1 << 2, kSnoopModified = 1 << 4, kSnoopPeer = 1 << 1;
constexpr uint64_t kLocked = 1 << 1;
constexpr uint64_t kBlockedByData = 1 << 1, kBlockedByAddress = 1 << 2;

struct Source {
  explicit Source(uint64_t data_src)
      : level(bits(data_src, 5, 14)),
        hit((bits(data_src, 19, 5) & kSnoopHit) != 0),
        modified((bits(data_src, 19, 5) & kSnoopModified) != 0),
        peer((bits(data_src, 38, 2) & kSnoopPeer) != 0),
        remote(bits(data_src, 37, 1) != 0) {}
  [[nodiscard]] bool is(uint64_t mask) const { return (level & mask) != 0; }

  uint64_t level;
  bool hit, modified, peer, remote;
};

void count_memory(const Source& source, uint64_t& memory, AccessCounts& counts) {
  ++memory;
  ++(source.hit ? counts.shared : counts.exclusive);
}

void count_load_hit(const Source& source, AccessCounts& counts) {
  if (source.is(kUncacheable)) ++counts.uncacheable_loads;
  if (source.is(kIo)) ++counts.io_loads;
  if (source.is(kFillBuffer)) ++counts.fill_buffer_hits;
  if (source.is(kL1)) ++counts.l1_hits;
  if (source.is(kL2)) {
    ++counts.l2_hits;
    if (source.peer) ++counts.local_peer;
  }
  if (source.is(kL3)) {
    ++(source.modified ? counts.local_hitm : counts.llc_hits);
    if (source.peer) ++counts.local_peer;
  }
  if (source.is(kLocalMemory)) count_memory(source, counts.local_memory, counts);
  if (source.is(kRemoteMemory) || source.remote) count_memory(source, counts.remote_memory, counts);
}

void count_load(const Source& source, AccessCounts& counts) {
  if (source.is(kHit)) count_load_hit(source, counts);
  if (source.is(kRemoteCache) || source.remote) {
    if (source.hit) {
      ++counts.remote_hits;
    } else if (source.modified) {
      ++counts.remote_hitm;
    } else if (source.peer) {
      ++counts.remote_hits;
      ++counts.remote_peer;
    }
  }
  if (source.is(kMiss)) ++counts.missing_loads;
}

void count_store(const Source& source, AccessCounts& counts) {
  if (source.is(kHit)) {
    if (source.is(kUncacheable)) ++counts.uncacheable_stores;
    if (source.is(kL1)) ++counts.store_l1_hits;
  }
  if (source.is(kMiss) && source.is(kL1)) ++counts.store_l1_misses;
  if (source.is(kLevelUnknown)) ++counts.stores_of_unknown_level;
}

}  // namespace

void AccessCounts::add(const AccessCounts& other) {
  constexpr uint64_t AccessCounts::* kAll[] = {&AccessCounts::records,
                                               &AccessCounts::locked,
                                               &AccessCounts::blocked_by_data,
                                               &AccessCounts::blocked_by_address,
                                               &AccessCounts::loads,
                                               &AccessCounts::loads_without_address,
                                               &AccessCounts::uncacheable_loads,
                                               &AccessCounts::io_loads,
                                               &AccessCounts::missing_loads,
                                               &AccessCounts::fill_buffer_hits,
                                               &AccessCounts::l1_hits,
                                               &AccessCounts::l2_hits,
                                               &AccessCounts::llc_hits,
                                               &AccessCounts::local_hitm,
                                               &AccessCounts::remote_hitm,
                                               &AccessCounts::local_peer,
                                               &AccessCounts::remote_peer,
                                               &AccessCounts::remote_hits,
                                               &AccessCounts::local_memory,
                                               &AccessCounts::remote_memory,
                                               &AccessCounts::exclusive,
                                               &AccessCounts::shared,
                                               &AccessCounts::stores,
                                               &AccessCounts::stores_without_address,
                                               &AccessCounts::uncacheable_stores,
                                               &AccessCounts::store_l1_hits,
                                               &AccessCounts::store_l1_misses,
                                               &AccessCounts::stores_of_unknown_level,
                                               &AccessCounts::unmapped,
                                               &AccessCounts::unparsed};
  static_assert(sizeof(kAll) / sizeof(kAll[0]) == sizeof(AccessCounts) / sizeof(uint64_t));
  for (uint64_t AccessCounts::* count : kAll) this->*count += other.*count;
}

AccessCounts counts_of(uint64_t data_src, uint64_t data_address, bool is_mapped) {
  AccessCounts counts;
  counts.records = 1;
  if ((bits(data_src, 24, 2) & kLocked) != 0) counts.locked = 1;
  uint64_t blocked = bits(data_src, 40, 3);
  if ((blocked & kBlockedByData) != 0) counts.blocked_by_data = 1;
  if ((blocked & kBlockedByAddress) != 0) counts.blocked_by_address = 1;

  uint64_t operation = bits(data_src, 0, 5);
  Source source(data_src);
  if ((operation & kLoad) != 0) {
    counts.loads = 1;
    if (data_address == 0) {
      counts.loads_without_address = 1;
      return counts;
    }
    count_load(source, counts);
  } else if ((operation & kStore) != 0) {
    counts.stores = 1;
    if (data_address == 0) {
      counts.stores_without_address = 1;
      return counts;
    }
    count_store(source, counts);
  } else {
    counts.unparsed = 1;
    return counts;
  }
  if (!is_mapped) counts.unmapped = 1;
  return counts;
}

}  // namespace sonde::c2c
