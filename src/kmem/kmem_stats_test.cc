#include <gtest/gtest.h>

#include "kmem/alloc_paths.h"
#include "kmem/gfp_names.h"
#include "kmem/kmem_tables.h"

namespace sonde {
namespace {

KmemEvent slab_alloc(uint64_t object, uint64_t call_site, uint64_t requested, uint64_t allocated,
                     uint32_t cpu = 0, int32_t node = -1) {
  KmemEvent event;
  event.kind = KmemKind::kSlabAlloc;
  event.what = object;
  event.call_site = call_site;
  event.requested = requested;
  event.allocated = allocated;
  event.cpu = cpu;
  event.node = node;
  return event;
}
KmemEvent slab_free(uint64_t object, uint32_t cpu = 0) {
  KmemEvent event;
  event.kind = KmemKind::kSlabFree;
  event.what = object;
  event.cpu = cpu;
  return event;
}
KmemEvent page_event(KmemKind kind, uint64_t page, uint32_t order, AllocPathId path = 0,
                     int32_t migrate_type = 1) {
  KmemEvent event;
  event.kind = kind;
  event.what = page;
  event.order = order;
  event.path = path;
  event.migrate_type = migrate_type;
  event.gfp_flags = 0xcc0;
  return event;
}

TEST(SlabStats, AddsUpByObjectAndByCaller) {
  SlabStats stats({});
  stats.consume(slab_alloc(0x1000, 0xa, 60, 64));
  stats.consume(slab_alloc(0x2000, 0xa, 100, 128));
  stats.consume(slab_alloc(0x1000, 0xb, 64, 64));
  EXPECT_EQ(stats.sums().requested, 224u);
  EXPECT_EQ(stats.sums().allocated, 256u);
  EXPECT_EQ(stats.sums().allocations, 3u);
  auto objects = stats.objects();
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].hits, 2u);
  EXPECT_EQ(objects[0].call_site, 0xbu);
  auto callers = stats.callers();
  ASSERT_EQ(callers.size(), 2u);
  EXPECT_EQ(callers[0].requested, 160u);
  EXPECT_NEAR(callers[0].fragmentation(), 16.667, 0.001);
}

TEST(SlabStats, AFreeByAnotherCpuIsPingPong) {
  SlabStats stats({});
  stats.consume(slab_alloc(0x1000, 0xa, 60, 64, 1));
  stats.consume(slab_free(0x1000, 0));
  stats.consume(slab_alloc(0x1000, 0xa, 60, 64, 1));
  stats.consume(slab_free(0x1000, 1));
  EXPECT_EQ(stats.sums().freed, 128u);
  EXPECT_EQ(stats.objects()[0].ping_pongs, 1u);
  EXPECT_EQ(stats.callers()[0].ping_pongs, 1u);
}

TEST(SlabStats, FreesOfWhatCameBeforeAreCounted) {
  SlabStats stats({});
  stats.consume(slab_free(0x1000));
  stats.consume(slab_free(0));  // kfree(NULL)
  EXPECT_EQ(stats.sums().unknown_frees, 1u);
  EXPECT_EQ(stats.sums().freed, 0u);
}

TEST(SlabStats, MemoryOfAnotherNodeIsCounted) {
  SlabStats stats({0, 1});
  stats.consume(slab_alloc(0x1000, 0xa, 8, 8, 0, 0));
  stats.consume(slab_alloc(0x2000, 0xa, 8, 8, 1, 0));
  stats.consume(slab_alloc(0x3000, 0xa, 8, 8, 1, -1));
  stats.consume(slab_alloc(0x4000, 0xa, 8, 8, 9, 0));  // a CPU without a node
  EXPECT_EQ(stats.sums().cross_node, 2u);
}

TEST(SortSlabRows, KeysDecideLargestFirstAndStably) {
  std::vector<SlabRow> rows = {{1, 9, 10, 10, 1, 0}, {2, 8, 30, 40, 1, 0}, {3, 7, 40, 40, 2, 0}};
  ASSERT_TRUE(sort_slab_rows(rows, "bytes, hit"));
  EXPECT_EQ(rows[0].what, 3u);
  EXPECT_EQ(rows[1].what, 2u);
  ASSERT_TRUE(sort_slab_rows(rows, "hit"));
  EXPECT_EQ(rows[1].what, 2u);
  EXPECT_EQ(sort_slab_rows(rows, "order").error().code, ErrorCode::kUsage);
}

TEST(PageStats, CountsRequestsAndOrders) {
  PageStats stats({});
  stats.consume(page_event(KmemKind::kPageAlloc, 100, 0));
  stats.consume(page_event(KmemKind::kPageAlloc, 200, 3));
  stats.consume(page_event(KmemKind::kPageAlloc, UINT64_MAX, 4));  // failed
  stats.consume(page_event(KmemKind::kPageFree, 200, 3));
  stats.consume(page_event(KmemKind::kPageFree, 300, 1));  // from before the recording
  const PageTotals& sums = stats.sums();
  EXPECT_EQ(sums.allocated.count, 3u);
  EXPECT_EQ(sums.allocated.bytes, 4096u * (1 + 8 + 16));
  EXPECT_EQ(sums.failed.bytes, 4096u * 16);
  EXPECT_EQ(sums.freed.count, 2u);
  EXPECT_EQ(sums.unknown_frees.count, 1u);
  EXPECT_EQ(stats.orders()[3][1], 1);
  EXPECT_EQ(stats.pages({0xa}).size(), 2u);
}

TEST(PageStats, LiveForgetsWhatWasFreed) {
  PageStats stats({.live_only = true});
  stats.consume(page_event(KmemKind::kPageAlloc, 100, 0, 0));
  stats.consume(page_event(KmemKind::kPageAlloc, 200, 0, 1));
  stats.consume(page_event(KmemKind::kPageFree, 100, 0));
  auto pages = stats.pages({0xa, 0xb});
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].call_site, 0xbu);
  EXPECT_EQ(stats.callers({0xa, 0xb}).size(), 1u);
  EXPECT_EQ(stats.orders()[0][1], 1);
}

TEST(PageStats, PathsOfOneCallerAreOneRow) {
  PageStats stats({});
  stats.consume(page_event(KmemKind::kPageAlloc, 100, 0, 0));
  stats.consume(page_event(KmemKind::kPageAlloc, 200, 0, 1));
  EXPECT_EQ(stats.callers({0xa, 0xa}).size(), 1u);
  EXPECT_EQ(stats.callers({0xa, 0xb}).size(), 2u);
}

TEST(PageStats, DamagedOrdersAndTypesAreNotInTheTable) {
  PageStats stats({});
  stats.consume(page_event(KmemKind::kPageAlloc, 100, 4'000'000'000u, 0));
  stats.consume(page_event(KmemKind::kPageAlloc, 200, 0, 0, -5));
  stats.consume(page_event(KmemKind::kPageAlloc, 300, 0, 0, 77));
  for (const auto& row : stats.orders())
    for (int64_t count : row) EXPECT_EQ(count, 0);
  EXPECT_EQ(stats.sums().allocated.count, 3u);
}

TEST(AllocPaths, SameChainsAreOnePath) {
  AllocPaths paths;
  std::vector<uint64_t> chain = {1, 2, 3};
  EXPECT_EQ(paths.intern(chain, 1), 0u);
  EXPECT_EQ(paths.intern({}, 1), 1u);
  EXPECT_EQ(paths.intern(chain, 1), 0u);
  EXPECT_EQ(paths.addresses(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(IsPageAllocator, KnowsTheNamesOfManyKernels) {
  for (std::string_view name :
       {"__alloc_pages_nodemask", "alloc_pages_current", "__get_free_pages", "alloc_pages_vma",
        "__alloc_frozen_pages_noprof", "alloc_pages_mpol", "folio_alloc_noprof",
        "vma_alloc_folio_noprof", "get_zeroed_page", "__folio_alloc_noprof", "alloc_pages_noprof",
        "alloc_frozen_pages_nolock_noprof", "__alloc_pages.part.0"})
    EXPECT_TRUE(is_page_allocator(name)) << name;
  for (std::string_view name : {"do_anonymous_page", "alloc_skb", "allocate_slab",
                                "alloc_pages_bad", "__filemap_get_folio", ""})
    EXPECT_FALSE(is_page_allocator(name)) << name;
}

TEST(GfpNames, AreShortened) {
  EXPECT_EQ(short_gfp("GFP_KERNEL|__GFP_ZERO"), "K|Z");
  EXPECT_EQ(short_gfp("GFP_NOWAIT|__GFP_OF_TOMORROW|__GFP_COMP"), "NW|C");
  EXPECT_EQ(short_gfp("none"), "");
  GfpNames names;
  names.add(0xdc0, "page=0x1 order=0 gfp_flags=GFP_KERNEL|__GFP_ZERO rest");
  names.add(0x1, "something else");
  EXPECT_EQ(names.brief(0xdc0), "K|Z");
  EXPECT_EQ(names.brief(0x1), "");
  EXPECT_EQ(names.all().at(0xdc0).full, "GFP_KERNEL|__GFP_ZERO");
  EXPECT_EQ(names.width(), 3u);
}

TEST(MigrateTypes, ChangedTheirOrder) {
  EXPECT_EQ(MigrateTypes::of_kernel("3.16.0-4-amd64").brief[1], "RECLAIM");
  EXPECT_EQ(MigrateTypes::of_kernel("4.3.9").brief[1], "RECLAIM");
  EXPECT_EQ(MigrateTypes::of_kernel("4.4").brief[1], "MOVABLE");
  EXPECT_EQ(MigrateTypes::of_kernel("6.18.44").brief[1], "MOVABLE");
  EXPECT_EQ(MigrateTypes::of_kernel("").brief[1], "MOVABLE");
}

TEST(KmemTables, LongOnesAreCut) {
  StringSink out;
  write_slab_rows(out, {{0x1000, 0, 60, 64, 1, 0}, {0x2000, 0, 60, 64, 1, 0}}, {nullptr, 1, false});
  EXPECT_NE(out.text().find("0x1000"), std::string::npos);
  EXPECT_EQ(out.text().find("0x2000"), std::string::npos);
  EXPECT_NE(out.text().find("\n ...  "), std::string::npos);
}

}  // namespace
}  // namespace sonde
