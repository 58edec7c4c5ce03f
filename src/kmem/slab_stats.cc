#include "kmem/slab_stats.h"

#include <algorithm>

#include "kmem/sort_rows.h"

namespace sonde {

double SlabRow::fragmentation() const {
  if (allocated == 0) return 0;
  return 100.0 - 100.0 * static_cast<double>(requested) / static_cast<double>(allocated);
}

void SlabStats::consume(const KmemEvent& event) {
  if (event.kind == KmemKind::kSlabAlloc)
    allocate(event);
  else if (event.kind == KmemKind::kSlabFree)
    free(event);
}

void SlabStats::allocate(const KmemEvent& event) {
  auto add = [&](SlabRow& row) {
    ++row.hits;
    row.requested += event.requested;
    row.allocated += event.allocated;
  };
  Object& object = objects_[event.what];
  object.row.what = event.what;
  object.row.call_site = event.call_site;
  object.last_allocated = event.allocated;
  object.cpu = static_cast<int32_t>(event.cpu);
  add(object.row);
  SlabRow& caller = callers_[event.call_site];
  caller.what = caller.call_site = event.call_site;
  add(caller);

  sums_.requested += event.requested;
  sums_.allocated += event.allocated;
  ++sums_.allocations;
  if (event.node != -1 && event.node != node_of(event.cpu)) ++sums_.cross_node;
}

void SlabStats::free(const KmemEvent& event) {
  auto found = objects_.find(event.what);
  if (found == objects_.end()) {
    // kfree(NULL) does not count as a free.
    if (event.what != 0) ++sums_.unknown_frees;
    return;
  }
  Object& object = found.value();
  sums_.freed += object.last_allocated;
  if (static_cast<int32_t>(event.cpu) != object.cpu) {
    ++object.row.ping_pongs;
    ++callers_[object.row.call_site].ping_pongs;
  }
  object.cpu = -1;
}

std::vector<SlabRow> SlabStats::objects() const {
  std::vector<SlabRow> rows;
  rows.reserve(objects_.size());
  for (const auto& [address, object] : objects_) rows.push_back(object.row);
  std::ranges::sort(rows, {}, &SlabRow::what);
  return rows;
}

std::vector<SlabRow> SlabStats::callers() const {
  std::vector<SlabRow> rows;
  for (const auto& [address, row] : callers_) rows.push_back(row);
  std::ranges::sort(rows, {}, &SlabRow::what);
  return rows;
}

Result<> sort_slab_rows(std::vector<SlabRow>& rows, std::string_view keys) {
  using Row = SlabRow;
  static constexpr RowKey<Row> kKeys[] = {
      {"ptr", [](const Row& a, const Row& b) { return a.what < b.what; }},
      {"callsite", [](const Row& a, const Row& b) { return a.call_site < b.call_site; }},
      {"bytes", [](const Row& a, const Row& b) { return a.allocated < b.allocated; }},
      {"hit", [](const Row& a, const Row& b) { return a.hits < b.hits; }},
      {"pingpong", [](const Row& a, const Row& b) { return a.ping_pongs < b.ping_pongs; }},
      {"frag", [](const Row& a, const Row& b) { return a.fragmentation() < b.fragmentation(); }},
  };
  return sort_rows<Row>(rows, keys, kKeys, "slab");
}

}  // namespace sonde
