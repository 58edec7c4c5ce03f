// KmemPipeline: the allocator events of a recording in time order
// (replay/passes/tracepoint_scan.h).
//
//   KmemPipeline pipeline(scan, machine, losses);
//   pipeline.run({.slab = true}, [&](std::span<const KmemEvent> events) { … });
#pragma once

#include "kmem/alloc_paths.h"
#include "kmem/kmem_event.h"
#include "replay/fields/field_offsets.h"
#include "replay/passes/scan_machine.h"
#include "replay/passes/tracepoint_scan.h"
#include "replay/sample_columns.h"

namespace sonde {

struct KmemWanted {
  bool slab = false, page = false;
  TimeRange time = {};  // events outside are left out
};

struct KmemFields : SampleOffsets {
  KmemKind kind = KmemKind::kOther;
  IntField what, call_site, requested, allocated, node, order, gfp_flags, migrate_type;
  bool is_by_address = false;  // pages are named by the address of their struct page
};

class KmemPipeline : public TracepointScan<KmemEvent, KmemFields> {
 public:
  /// `machine` must outlive this; it receives the other records, and is not settled.
  KmemPipeline(FileScan& scan, ScanMachine& machine, LossLedger& losses);

  /// Whether pages are identified by frame number; otherwise by the address of their struct page.
  [[nodiscard]] bool pages_are_pfns() const { return pages_are_pfns_; }
  /// Reads everything, once.
  void run(const KmemWanted& wanted, const Take& take);
  /// Complete after run.
  [[nodiscard]] const AllocPaths& paths() const { return paths_; }

 private:
  ScanMachine& machine_;
  bool pages_are_pfns_;
  AllocPaths paths_;
};

}  // namespace sonde
