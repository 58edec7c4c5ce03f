// One event of the kernel's allocators, extracted from a sample of one of their tracepoints
// (include/trace/events/kmem.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

enum class KmemKind : uint8_t {
  kOther,      // a sample of any other event: never delivered
  kSlabAlloc,  // kmalloc, kmem_cache_alloc, and until Linux 6.1 their _node variants
  kSlabFree,   // kfree, kmem_cache_free
  kPageAlloc,  // mm_page_alloc
  kPageFree,   // mm_page_free
};

/// The call chain of an allocation, as a small number.
using AllocPathId = uint32_t;

struct KmemEvent {
  uint64_t time = 0;                      // ns
  const std::byte* record = nullptr;      // its header
  uint64_t what = 0;                      // address of the object; page: its pfn or address
  uint64_t call_site = 0;                 // for slab events
  uint64_t requested = 0, allocated = 0;  // bytes, for kSlabAlloc
  uint32_t cpu = 0;
  int32_t node = -1;         // for kSlabAlloc: the requested NUMA node; -1: any
  uint32_t order = 0;        // for page events
  uint32_t gfp_flags = 0;    // for kPageAlloc
  int32_t migrate_type = 0;  // for kPageAlloc
  AllocPathId path = 0;      // for kPageAlloc
  uint16_t event = 0;        // index of the recording's event
  KmemKind kind = KmemKind::kOther;
};

}  // namespace sonde
