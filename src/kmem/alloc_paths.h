// Who allocated a page. The sample's own address is inside the allocator, and so are the innermost
// functions of its call chain: the caller is the first one that is not. Chains are kept as they
// come, each once, and named when the kernel's symbols are known.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "kmem/kmem_event.h"
#include "replay/walk_machine.h"

namespace sonde {

class AllocPaths {
 public:
  /// Innermost frames that may all be the allocator's.
  static constexpr size_t kDepth = 16;

  /// `chain`: the kernel's part, innermost first, at most kDepth. `ip` stands for it where it is
  /// empty, or has nothing but the allocator.
  AllocPathId intern(std::span<const uint64_t> chain, uint64_t ip);

  /// All addresses, each once.
  [[nodiscard]] std::vector<uint64_t> addresses() const;
  /// The caller of each path, by its id.
  [[nodiscard]] std::vector<uint64_t> callers(const WalkMachine& machine) const;
  [[nodiscard]] size_t size() const { return ips_.size(); }

 private:
  [[nodiscard]] std::span<const uint64_t> chain(size_t path) const;

  tsl::robin_map<uint64_t, AllocPathId> by_hash_;
  std::vector<uint64_t> ips_;   // by path
  std::vector<size_t> starts_;  // of its chain in addresses_
  std::vector<uint64_t> addresses_;
};

/// Whether a function of the kernel belongs to the page allocator, or only passes requests on to
/// it: alloc_pages and what it became ("__alloc_frozen_pages_noprof", "vma_alloc_folio_noprof").
[[nodiscard]] bool is_page_allocator(std::string_view function);

}  // namespace sonde
