// Arbitrary bytes as a recording, summed by `kmem stat`. No crash, no read outside the input.
#include "base/loss.h"
#include "fuzz/fuzz_target.h"
#include "kmem/kmem_pipeline.h"
#include "kmem/kmem_tables.h"
#include "perfdata/read/recording.h"

FUZZ_TARGET(kmem)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  FileScan scan(*recording, losses);
  ScanMachine machine(scan);
  KmemPipeline pipeline(scan, machine, losses);
  SlabStats slab({0});
  PageStats pages({.live_only = size % 2 == 1});
  pipeline.run({.slab = true, .page = true}, [&](std::span<const KmemEvent> events) {
    for (const KmemEvent& event : events) {
      slab.consume(event);
      pages.consume(event);
      (void)pipeline.raw(event);
    }
  });
  StringSink out;
  GfpNames names;
  std::vector<uint64_t> callers = pipeline.paths().addresses();
  callers.resize(pipeline.paths().size());
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
