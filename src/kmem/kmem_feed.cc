#include "kmem/kmem_feed.h"

#include <algorithm>
#include <array>

#include "replay/trace_formats.h"

namespace sonde {
namespace {

constexpr size_t kLastEvent = UINT16_MAX - 1;  // that a KmemEvent can name

struct KindName {
  std::string_view name;
  KmemKind kind;
};
constexpr std::array kKindNames{
    KindName{"kmem:kmalloc", KmemKind::kSlabAlloc},
    KindName{"kmem:kmem_cache_alloc", KmemKind::kSlabAlloc},
    KindName{"kmem:kmalloc_node", KmemKind::kSlabAlloc},
    KindName{"kmem:kmem_cache_alloc_node", KmemKind::kSlabAlloc},
    KindName{"kmem:kfree", KmemKind::kSlabFree},
    KindName{"kmem:kmem_cache_free", KmemKind::kSlabFree},
    KindName{"kmem:mm_page_alloc", KmemKind::kPageAlloc},
    KindName{"kmem:mm_page_free", KmemKind::kPageFree},
};

KmemKind kind_of(std::string_view name) {
  for (const KindName& known : kKindNames)
    if (known.name == name) return known.kind;
  return KmemKind::kOther;
}

bool is_page(KmemKind kind) {
  return kind == KmemKind::kPageAlloc || kind == KmemKind::kPageFree;
}

}  // namespace

class KmemFeed::Cutter {
 public:
  using Item = KmemEvent;
  Cutter(KmemFeed& feed, const KmemWanted& wanted) : feed_(feed), wanted_(wanted) {}

  Cut cut(const RecordView& record, uint32_t id, KmemEvent& event) {
    const Places& places = feed_.places_[id];
    if (places.kind == KmemKind::kOther) return Cut::kNothing;
    if (is_page(places.kind) ? !wanted_.page : !wanted_.slab) return Cut::kNothing;
    SampleHead head;
    if (!places.read(record, head)) return Cut::kBad;
    if (head.time < wanted_.from_ns || head.time > wanted_.to_ns) return Cut::kNothing;
    const SampleLayout& layout = feed_.walk_.events()[EventId(size_t{id})].layout;
    Bytes raw = places.raw_data(record, layout);
    if (raw.empty()) return Cut::kBad;
    event.time = head.time;
    event.record = record.raw().data();
    event.cpu = head.cpu;
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    event.what = places.what.read(raw, record.order);
    read_fields(places, raw, record.order, event);
    if (places.kind != KmemKind::kPageAlloc) return Cut::kItem;
    places.read_chain(record, layout, AllocPaths::kDepth, chain_);
    event.path = feed_.paths_.intern(chain_.of_kernel(), head.ip);
    return Cut::kItem;
  }
  bool cut_other(const OtherRecord& record, KmemEvent& /*event*/) {
    feed_.machine_.keep(record);
    return false;
  }

 private:
  static void read_fields(const Places& places, Bytes raw, ByteOrder order, KmemEvent& event) {
    if (is_page(places.kind)) {
      event.order = static_cast<uint32_t>(places.order.read(raw, order));
      event.gfp_flags = static_cast<uint32_t>(places.gfp_flags.read(raw, order));
      event.migrate_type = static_cast<int32_t>(places.migrate_type.read(raw, order));
      return;
    }
    event.call_site = places.call_site.read(raw, order);
    event.requested = places.requested.read(raw, order);
    event.allocated = places.allocated.read(raw, order);
    if (places.node.is_there()) event.node = static_cast<int32_t>(places.node.read(raw, order));
  }

  KmemFeed& feed_;
  const KmemWanted& wanted_;
  SamplePlaces::Chain chain_;
};

KmemFeed::KmemFeed(FileWalk& walk, WalkMachine& machine, LossLedger& losses)
    : walk_(walk), machine_(machine), losses_(losses), places_(walk.events().size()) {
  TraceFormats formats(walk.events(), walk.features());
  for (size_t i = 0; i < std::min(places_.size(), kLastEvent); ++i) {
    const EventDesc& event = walk.events()[EventId(i)];
    const TracepointFormat* format = formats.of(EventId(i));
    if (format == nullptr) continue;
    Places& places = places_[i];
    static_cast<SamplePlaces&>(places) = SamplePlaces::of(event.attr.sample_type);
    places.kind = kind_of(event.name);
    auto place = [&](std::string_view field) { return IntPlace::of(*format, field); };
    places.call_site = place("call_site");
    places.requested = place("bytes_req");
    places.allocated = place("bytes_alloc");
    places.node = place("node");
    places.order = place("order");
    places.gfp_flags = place("gfp_flags");
    places.migrate_type = place("migratetype");
    places.what = place("ptr");
    if (!is_page(places.kind)) continue;
    places.what = place("pfn");
    // Until Linux 4.0.
    if (!places.what.is_there()) {
      pages_are_pfns_ = false;
      places.what = place("page");
    }
  }
}

bool KmemFeed::has(KmemKind kind) const {
  return std::ranges::find(places_, kind, &Places::kind) != places_.end();
}

Bytes KmemFeed::raw(const KmemEvent& event) const {
  return places_[event.event].raw_data(record_at(event.record, walk_.facts().order),
                                       walk_.events()[EventId(size_t{event.event})].layout);
}

void KmemFeed::run(const KmemWanted& wanted, const Take& take) {
  Cutter cutter(*this, wanted);
  counts_ = feed_records(walk_, losses_, cutter, SortedBy::kTaker, take);
}

}  // namespace sonde
