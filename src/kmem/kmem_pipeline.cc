#include "kmem/kmem_pipeline.h"

#include <algorithm>
#include <array>

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

void find_fields(KmemFields& fields, const TracepointFormat& format) {
  auto field = [&](std::string_view name) { return IntField::of(format, name); };
  fields.call_site = field("call_site");
  fields.requested = field("bytes_req");
  fields.allocated = field("bytes_alloc");
  fields.node = field("node");
  fields.order = field("order");
  fields.gfp_flags = field("gfp_flags");
  fields.migrate_type = field("migratetype");
  fields.what = field(is_page(fields.kind) ? "pfn" : "ptr");
  // Until Linux 4.0.
  fields.is_by_address = is_page(fields.kind) && !fields.what.is_there();
  if (fields.is_by_address) fields.what = field("page");
}

/// Keeps the paths of page allocations, and what tells of the kernel's code.
struct KmemReader {
  static constexpr bool kKeepsState = true;
  const KmemWanted& wanted;
  ScanMachine& machine;
  AllocPaths& paths;
  SampleOffsets::Chain chain;

  [[nodiscard]] bool wants(const KmemFields& fields) const {
    return fields.kind != KmemKind::kOther && (is_page(fields.kind) ? wanted.page : wanted.slab);
  }
  Decoded read(const KmemFields& fields, const RecordView& record, const SampleLayout& layout,
               KmemEvent& event) {
    SampleHead head;
    Bytes raw;
    if (!read_sample(fields, record, layout, head, raw)) return Decoded::kBad;
    if (!wanted.time.has(head.time)) return Decoded::kNothing;
    event.time = head.time;
    event.cpu = head.cpu;
    event.what = fields.what.read(raw, record.order);
    read_fields(fields, raw, record.order, event);
    if (fields.kind != KmemKind::kPageAlloc) return Decoded::kItem;
    fields.read_chain(record, layout, AllocPaths::kDepth, chain);
    event.path = paths.intern(chain.of_kernel(), head.ip);
    return Decoded::kItem;
  }
  bool read_other(const OtherRecord& other, const SampleLayout& /*layout*/,
                  KmemEvent& /*event*/) const {
    machine.keep(other);
    return false;
  }

 private:
  static void read_fields(const KmemFields& fields, Bytes raw, ByteOrder order, KmemEvent& event) {
    if (is_page(fields.kind)) {
      event.order = static_cast<uint32_t>(fields.order.read(raw, order));
      event.gfp_flags = static_cast<uint32_t>(fields.gfp_flags.read(raw, order));
      event.migrate_type = static_cast<int32_t>(fields.migrate_type.read(raw, order));
      return;
    }
    event.call_site = fields.call_site.read(raw, order);
    event.requested = fields.requested.read(raw, order);
    event.allocated = fields.allocated.read(raw, order);
    if (fields.node.is_there()) event.node = static_cast<int32_t>(fields.node.read(raw, order));
  }
};

std::vector<KmemFields> fields_of(const FileScan& scan) {
  return places_by_event<KmemFields>(scan.events(), scan.features(), kKinds, find_fields);
}

}  // namespace

KmemPipeline::KmemPipeline(FileScan& scan, ScanMachine& machine, LossLedger& losses)
    : TracepointScan(scan, fields_of(scan), losses),
      machine_(machine),
      pages_are_pfns_(std::ranges::none_of(all_fields(), &KmemFields::is_by_address)) {}

void KmemPipeline::run(const KmemWanted& wanted, const Take& take) {
  KmemReader reader{.wanted = wanted, .machine = machine_, .paths = paths_, .chain = {}};
  scan_with(reader, SortedBy::kConsumer, take);
}

}  // namespace sonde
