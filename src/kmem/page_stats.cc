#include "kmem/page_stats.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/hashing/number_hash.h"
#include "kmem/sort_rows.h"

namespace sonde {
namespace {

/// mm_page_alloc for a failed request: pfn -1, or no struct page.
bool is_page(uint64_t what) {
  return what != 0 && what != UINT64_MAX;
}

}  // namespace

size_t PageStats::KeyHash::operator()(const PageKey& key) const {
  NumberHash hash;
  return hash(key.what) ^ hash(uint64_t{key.gfp_flags} << 16 | uint64_t{key.order} << 8 |
                               static_cast<uint8_t>(key.migrate_type));
}

uint64_t PageStats::bytes_of(uint32_t order) const {
  constexpr uint32_t kMax = 40;  // damaged if it is more
  return options_.page_bytes << std::min(order, kMax);
}

void PageStats::consume(const KmemEvent& event) {
  if (event.kind == KmemKind::kPageAlloc)
    allocate(event);
  else if (event.kind == KmemKind::kPageFree)
    free(event);
}

void PageStats::count_order(const PageKey& key, int change) {
  if (key.order >= kOrders || key.migrate_type < 0) return;
  auto type = static_cast<size_t>(key.migrate_type);
  if (type < kMigrateTypes) orders_[key.order][type] += change;
}

void PageStats::allocate(const KmemEvent& event) {
  uint64_t bytes = bytes_of(event.order);
  sums_.allocated.add(bytes);
  if (!is_page(event.what)) {
    sums_.failed.add(bytes);
    return;
  }
  auto add = [&](PageRow& row, const PageKey& key) {
    row.key = key;
    row.path = event.path;
    ++row.allocations;
    row.allocated += bytes;
  };
  PageKey key{event.what, event.order, event.gfp_flags, event.migrate_type};
  // If its free was lost, the key is that of the first allocation.
  auto [live, is_new] = live_.try_emplace(event.what, PageRow{.key = key});
  add(live.value(), live->second.key);
  if (!options_.live_only) add(pages_[key], key);
  key.what = event.path;
  add(callers_[key], key);
  count_order(key, 1);
}

void PageStats::free(const KmemEvent& event) {
  uint64_t bytes = bytes_of(event.order);
  sums_.freed.add(bytes);
  auto found = live_.find(event.what);
  if (found == live_.end()) {
    sums_.unknown_frees.add(bytes);
    return;
  }
  PageRow page = found->second;
  live_.erase(found);
  if (!options_.live_only) return;
  count_order(page.key, -1);
  PageKey key = page.key;
  key.what = page.path;
  auto caller = callers_.find(key);
  if (caller == callers_.end()) return;
  PageRow& row = caller.value();
  row.allocated -= std::min(row.allocated, bytes_of(page.key.order));
  if (--row.allocations == 0) callers_.erase(caller);
}

std::vector<PageRow> PageStats::pages(const std::vector<uint64_t>& callers) const {
  std::vector<PageRow> rows;
  auto add = [&](PageRow row) {
    row.call_site = row.path < callers.size() ? callers[row.path] : 0;
    rows.push_back(row);
  };
  if (options_.live_only) {
    for (const auto& [what, row] : live_) add(row);
    std::ranges::sort(rows, std::greater<>(), &PageRow::key);
  } else {
    for (const auto& [key, row] : pages_) add(row);
    std::ranges::sort(rows, {}, &PageRow::key);
  }
  return rows;
}

std::vector<PageRow> PageStats::callers(const std::vector<uint64_t>& callers) const {
  // Many paths share one caller.
  std::map<PageKey, PageRow> merged;
  for (const auto& [key, row] : callers_) {
    PageKey place = key;
    place.what = key.what < callers.size() ? callers[key.what] : 0;
    PageRow& sum = merged[place];
    sum.key = place;
    sum.call_site = place.what;
    sum.allocated += row.allocated;
    sum.allocations += row.allocations;
  }
  std::vector<PageRow> rows;
  for (const auto& [key, row] : merged) rows.push_back(row);
  return rows;
}

Result<> sort_page_rows(std::vector<PageRow>& rows, std::string_view keys) {
  using Row = PageRow;
  static constexpr RowKey<Row> kKeys[] = {
      {"page", [](const Row& a, const Row& b) { return a.key.what < b.key.what; }},
      {"callsite", [](const Row& a, const Row& b) { return a.call_site < b.call_site; }},
      {"bytes", [](const Row& a, const Row& b) { return a.allocated < b.allocated; }},
      {"hit", [](const Row& a, const Row& b) { return a.allocations < b.allocations; }},
      {"order", [](const Row& a, const Row& b) { return a.key.order < b.key.order; }},
      {"migtype",
       [](const Row& a, const Row& b) { return a.key.migrate_type < b.key.migrate_type; }},
      {"gfp", [](const Row& a, const Row& b) { return a.key.gfp_flags < b.key.gfp_flags; }},
  };
  return sort_rows<Row>(rows, keys, kKeys, "page");
}

}  // namespace sonde
