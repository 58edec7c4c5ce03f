// KmemFeed: the allocator events of a recording in time order (replay/passes/record_feed.h).
//
//   KmemFeed feed(walk, machine, losses);
//   feed.run({.slab = true}, [&](std::span<const KmemEvent> events) { … });
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kmem/alloc_paths.h"
#include "kmem/kmem_event.h"
#include "replay/fields/field_places.h"
#include "replay/fields/sample_places.h"
#include "replay/passes/record_feed.h"
#include "replay/passes/walk_machine.h"

namespace sonde {

struct KmemWanted {
  bool slab = false, page = false;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;  // events outside are left out
};

class KmemFeed {
 public:
  /// `walk` must be at its start; it and `machine` must outlive this.
  KmemFeed(FileWalk& walk, WalkMachine& machine, LossLedger& losses);

  [[nodiscard]] bool has(KmemKind kind) const;
  /// Whether pages are identified by frame number; otherwise by the address of their struct page.
  [[nodiscard]] bool pages_are_pfns() const { return pages_are_pfns_; }

  using Take = std::function<void(std::span<const KmemEvent>)>;
  /// Reads everything, once. `take` is called by one thread at a time. The machine is not settled.
  void run(const KmemWanted& wanted, const Take& take);

  /// Complete after run.
  [[nodiscard]] const FeedCounts& counts() const { return counts_; }
  [[nodiscard]] const AllocPaths& paths() const { return paths_; }
  /// The raw data of a sample.
  [[nodiscard]] Bytes raw(const KmemEvent& event) const;

 private:
  class Cutter;
  struct Places : SamplePlaces {
    KmemKind kind = KmemKind::kOther;
    IntPlace what, call_site, requested, allocated, node, order, gfp_flags, migrate_type;
  };

  FileWalk& walk_;
  WalkMachine& machine_;
  LossLedger& losses_;
  std::vector<Places> places_;
  bool pages_are_pfns_ = true;
  AllocPaths paths_;
  FeedCounts counts_;
};

}  // namespace sonde
