// Pages of the page allocator: how much was allocated, by page and by caller, and what became of
// it, as in `perf kmem stat --page`.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/error.h"
#include "kmem/kmem_event.h"

namespace sonde {

/// What the allocations of a row have in common.
struct PageKey {
  uint64_t what = 0;  // page, or path of a caller (AllocPathId), or the caller's address
  uint32_t order = 0;
  uint32_t gfp_flags = 0;
  int32_t migrate_type = 0;
  auto operator<=>(const PageKey&) const = default;
};

struct PageRow {
  PageKey key;
  uint64_t call_site = 0;  // 0 until callers are known
  AllocPathId path = 0;    // for a page: of its last allocation
  uint64_t allocated = 0;  // bytes
  uint64_t allocations = 0;
};

struct PageTotals {
  struct Requests {
    uint64_t count = 0, bytes = 0;
    void add(uint64_t more) {
      ++count;
      bytes += more;
    }
  };
  Requests allocated, freed, failed;
  Requests unknown_frees;  // of pages from before the recording
};

class PageStats {
 public:
  static constexpr size_t kOrders = 11, kMigrateTypes = 5;  // shown in the summary
  using OrderTable = std::array<std::array<int64_t, kMigrateTypes>, kOrders>;

  struct Options {
    bool live_only = false;  // do not count what was freed
    uint64_t page_bytes = 4096;
  };
  explicit PageStats(const Options& options) : options_(options) {}

  void consume(const KmemEvent& event);

  [[nodiscard]] const PageTotals& sums() const { return sums_; }
  [[nodiscard]] const OrderTable& orders() const { return orders_; }
  /// `callers`: the address of each path. In the order in which equal rows are shown.
  [[nodiscard]] std::vector<PageRow> pages(const std::vector<uint64_t>& callers) const;
  [[nodiscard]] std::vector<PageRow> callers(const std::vector<uint64_t>& callers) const;

 private:
  struct KeyHash {
    size_t operator()(const PageKey& key) const;
  };
  using Rows = tsl::robin_map<PageKey, PageRow, KeyHash>;

  void allocate(const KmemEvent& event);
  void free(const KmemEvent& event);
  void count_order(const PageKey& key, int change);
  [[nodiscard]] uint64_t bytes_of(uint32_t order) const;

  Options options_;
  tsl::robin_map<uint64_t, PageRow> live_;  // by page
  Rows pages_;                              // all pages ever allocated; unused with live_only
  Rows callers_;                            // key.what: the path
  PageTotals sums_;
  OrderTable orders_{};
};

/// The keys of `-s`: page, callsite, bytes, hit, order, migtype, gfp. As sort_slab_rows.
Result<> sort_page_rows(std::vector<PageRow>& rows, std::string_view keys);

}  // namespace sonde
