// Who allocated a page. The sample's own address is inside the allocator, and so are the innermost
// functions of its call chain: the caller is the first one that is not. Chains are interned as they
// come, and named once the kernel's symbols are known.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/digest.h"
#include "kmem/kmem_event.h"
#include "replay/passes/scan_machine.h"

namespace sonde {

class AllocPaths {
 public:
  /// Innermost frames that may all be in the allocator.
  static constexpr size_t kDepth = 16;

  /// `chain`: the kernel's part, innermost first, at most kDepth. `ip` substitutes for it if it is
  /// empty, or only has the allocator.
  AllocPathId intern(std::span<const uint64_t> chain, uint64_t ip);

  /// All addresses, deduplicated.
  [[nodiscard]] std::vector<uint64_t> addresses() const;
  /// The caller of each path, by its id.
  [[nodiscard]] std::vector<uint64_t> callers(const ScanMachine& machine) const;
  [[nodiscard]] size_t size() const { return ips_.size(); }

 private:
  [[nodiscard]] std::span<const uint64_t> chain(size_t path) const;

  tsl::robin_map<Digest, AllocPathId, DigestHash> known_;
  std::vector<uint64_t> ips_;   // by path
  std::vector<size_t> starts_;  // of its chain in addresses_
  std::vector<uint64_t> addresses_;
};

/// Whether a kernel function belongs to the page allocator, or only forwards requests to it:
/// alloc_pages and its successors ("__alloc_frozen_pages_noprof", "vma_alloc_folio_noprof").
[[nodiscard]] bool is_page_allocator(std::string_view function);

}  // namespace sonde
