// Arbitrary bytes as a recording, summed by `kmem stat`. No crash, no read outside the input.
#include "base/loss.h"
#include "fuzz/fuzz_target.h"
#include "kmem/kmem_feed.h"
#include "kmem/kmem_tables.h"
#include "perfdata/read/recording.h"

FUZZ_TARGET(kmem)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  FileWalk walk(*recording, losses);
  WalkMachine machine(walk);
  KmemFeed feed(walk, machine, losses);
  SlabStats slab({0});
  PageStats pages({.live_only = size % 2 == 1});
  feed.run({.slab = true, .page = true}, [&](std::span<const KmemEvent> events) {
    for (const KmemEvent& event : events) {
      slab.take(event);
      pages.take(event);
      (void)feed.raw(event);
    }
  });
  StringSink out;
  GfpNames names;
  std::vector<uint64_t> callers = feed.paths().addresses();
  callers.resize(feed.paths().size());
  PageTableStyle style;
  style.gfp = &names;
  style.types = &MigrateTypes::of_kernel("");
  write_slab_rows(out, slab.callers(), {nullptr, -1, true});
  write_slab_summary(out, slab.sums());
  write_page_rows(out, pages.pages(callers), style);
  style.by_caller = true;
  write_page_rows(out, pages.callers(callers), style);
  write_page_summary(out, pages, *style.types);
  return 0;
}
