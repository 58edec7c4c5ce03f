// KmemPipeline: the allocator events of a recording in time order
// (replay/passes/record_pipeline.h).
//
//   KmemPipeline pipeline(scan, machine, losses);
//   pipeline.run({.slab = true}, [&](std::span<const KmemEvent> events) { … });
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kmem/alloc_paths.h"
#include "kmem/kmem_event.h"
#include "replay/fields/field_offsets.h"
#include "replay/fields/sample_offsets.h"
#include "replay/passes/record_pipeline.h"
#include "replay/passes/scan_machine.h"

namespace sonde {

struct KmemWanted {
  bool slab = false, page = false;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;  // events outside are left out
};

class KmemPipeline {
 public:
  /// `scan` must be at its start; it and `machine` must outlive this.
  KmemPipeline(FileScan& scan, ScanMachine& machine, LossLedger& losses);

  [[nodiscard]] bool has(KmemKind kind) const;
  /// Whether pages are identified by frame number; otherwise by the address of their struct page.
  [[nodiscard]] bool pages_are_pfns() const { return pages_are_pfns_; }

  using Take = std::function<void(std::span<const KmemEvent>)>;
  /// Reads everything, once. `take` is called by one thread at a time. The machine is not settled.
  void run(const KmemWanted& wanted, const Take& take);

  /// Complete after run.
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }
  [[nodiscard]] const AllocPaths& paths() const { return paths_; }
  /// The raw data of a sample.
  [[nodiscard]] Bytes raw(const KmemEvent& event) const;

 private:
  class Decoder;
  struct Places : SampleOffsets {
    KmemKind kind = KmemKind::kOther;
    IntField what, call_site, requested, allocated, node, order, gfp_flags, migrate_type;
  };

  FileScan& scan_;
  ScanMachine& machine_;
  LossLedger& losses_;
  std::vector<Places> places_;
  bool pages_are_pfns_ = true;
  AllocPaths paths_;
  PipelineCounts counts_;
};

}  // namespace sonde
