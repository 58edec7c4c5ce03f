#include "kmem/kmem_pipeline.h"

#include <array>

#include "replay/fields/kinds_of_events.h"

namespace sonde {
namespace {

constexpr std::array kKinds{
    EventKind{"kmem:kmalloc", KmemKind::kSlabAlloc},
    EventKind{"kmem:kmem_cache_alloc", KmemKind::kSlabAlloc},
    EventKind{"kmem:kmalloc_node", KmemKind::kSlabAlloc},
    EventKind{"kmem:kmem_cache_alloc_node", KmemKind::kSlabAlloc},
    EventKind{"kmem:kfree", KmemKind::kSlabFree},
    EventKind{"kmem:kmem_cache_free", KmemKind::kSlabFree},
    EventKind{"kmem:mm_page_alloc", KmemKind::kPageAlloc},
    EventKind{"kmem:mm_page_free", KmemKind::kPageFree},
};

bool is_page(KmemKind kind) {
  return kind == KmemKind::kPageAlloc || kind == KmemKind::kPageFree;
}

}  // namespace

class KmemPipeline::Decoder {
 public:
  using Item = KmemEvent;
  static constexpr bool kKeepsState = true;
  Decoder(KmemPipeline& pipeline, const KmemWanted& wanted)
      : pipeline_(pipeline), wanted_(wanted) {}

  Decoded decode(const RecordView& record, uint32_t id, KmemEvent& event) {
    const Places& places = pipeline_.places_[id];
    if (places.kind == KmemKind::kOther) return Decoded::kNothing;
    if (is_page(places.kind) ? !wanted_.page : !wanted_.slab) return Decoded::kNothing;
    SampleHead head;
    if (!places.read(record, head)) return Decoded::kBad;
    if (head.time < wanted_.from_ns || head.time > wanted_.to_ns) return Decoded::kNothing;
    const SampleLayout& layout = pipeline_.scan_.events()[EventId(size_t{id})].layout;
    Bytes raw = places.raw_data(record, layout);
    if (raw.empty()) return Decoded::kBad;
    event.time = head.time;
    event.record = record.raw().data();
    event.cpu = head.cpu;
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    event.what = places.what.read(raw, record.order);
    read_fields(places, raw, record.order, event);
    if (places.kind != KmemKind::kPageAlloc) return Decoded::kItem;
    places.read_chain(record, layout, AllocPaths::kDepth, chain_);
    event.path = pipeline_.paths_.intern(chain_.of_kernel(), head.ip);
    return Decoded::kItem;
  }
  bool decode_other(const OtherRecord& record, KmemEvent& /*event*/) {
    pipeline_.machine_.keep(record);
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

  KmemPipeline& pipeline_;
  const KmemWanted& wanted_;
  SampleOffsets::Chain chain_;
};

KmemPipeline::KmemPipeline(FileScan& scan, ScanMachine& machine, LossLedger& losses)
    : scan_(scan), machine_(machine), losses_(losses) {
  auto find_fields = [this](Places& places, const TracepointFormat& format) {
    auto place = [&](std::string_view field) { return IntField::of(format, field); };
    places.call_site = place("call_site");
    places.requested = place("bytes_req");
    places.allocated = place("bytes_alloc");
    places.node = place("node");
    places.order = place("order");
    places.gfp_flags = place("gfp_flags");
    places.migrate_type = place("migratetype");
    places.what = place(is_page(places.kind) ? "pfn" : "ptr");
    // Until Linux 4.0.
    if (is_page(places.kind) && !places.what.is_there()) {
      pages_are_pfns_ = false;
      places.what = place("page");
    }
  };
  places_ = places_by_event<Places>(scan.events(), scan.features(), kKinds, find_fields);
}

bool KmemPipeline::has(KmemKind kind) const {
  return has_kind(places_, kind);
}

Bytes KmemPipeline::raw(const KmemEvent& event) const {
  return places_[event.event].raw_data(record_at(event.record, scan_.facts().order),
                                       scan_.events()[EventId(size_t{event.event})].layout);
}

void KmemPipeline::run(const KmemWanted& wanted, const Take& take) {
  Decoder decoder(*this, wanted);
  counts_ = process_records(scan_, losses_, decoder, SortedBy::kConsumer, take);
}

}  // namespace sonde
