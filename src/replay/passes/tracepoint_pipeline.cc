#include "replay/passes/tracepoint_pipeline.h"

#include <algorithm>

namespace sonde {
namespace {

struct RequestReader {
  static constexpr bool kKeepsState = false;
  std::span<const uint32_t> types;

  static bool wants(const RequestedFields& fields) { return fields.kind != TracepointItem::kOther; }
  static Decoded read(const RequestedFields& fields, const RecordView& record,
                      const SampleLayout& layout, TracepointItem& item) {
    SampleHead head;
    Bytes raw;
    if (!read_sample(fields, record, layout, head, raw) || head.cpu >= TracepointPipeline::kMaxCpus)
      return Decoded::kBad;
    item.time = head.time;
    for (size_t i = 0; i < fields.values.size(); ++i)
      item.values[i] = fields.values[i].read(raw, record.order);
    item.pid = head.pid;
    item.tid = head.tid;
    item.cpu = head.cpu;
    return Decoded::kItem;
  }
  [[nodiscard]] bool read_other(const OtherRecord& other, const SampleLayout& layout,
                                TracepointItem& item) const {
    if (std::ranges::find(types, other.view.type) == types.end()) return false;
    SampleId who = decode_trailing_id(other.view, layout);
    item.pid = who.pid;
    item.tid = who.tid;
    item.cpu = who.has_cpu() ? who.cpu : 0;
    item.kind = TracepointItem::kOther;
    return true;
  }
};

std::vector<RequestedFields> fields_of(const FileScan& scan,
                                       std::span<const TracepointRequest> requests) {
  TraceFormats formats(scan.events(), scan.features());
  std::vector<RequestedFields> all(scan.events().size());
  for (size_t i = 0; i < std::min<size_t>(all.size(), UINT16_MAX); ++i) {
    const EventDesc& desc = scan.events()[EventId(i)];
    static_cast<SampleOffsets&>(all[i]) = SampleOffsets::of(desc.attr.sample_type);
    const TracepointFormat* format = formats.of(EventId(i));
    if (format == nullptr) continue;
    for (const TracepointRequest& request : requests) {
      if (request.name != desc.name) continue;
      all[i].kind = request.kind;
      for (size_t field = 0; field < request.fields.size(); ++field)
        all[i].values[field] = IntField::of(*format, request.fields[field]);
    }
  }
  return all;
}

}  // namespace

TracepointPipeline::TracepointPipeline(FileScan& scan, std::span<const TracepointRequest> requests,
                                       LossLedger& losses)
    : TracepointScan(scan, fields_of(scan, requests), losses),
      formats_(scan.events(), scan.features()) {}

void TracepointPipeline::run(const Take& take, SortedBy sorted_by) {
  RequestReader reader{types_};
  scan_with(reader, sorted_by, take);
}

std::string_view TracepointPipeline::text(const TracepointItem& item,
                                          std::string_view field) const {
  const TracepointField* found = format(item).field(field);
  if (found == nullptr) return {};
  Bytes data = raw(item);
  size_t offset = found->offset, size = found->size;
  if (found->is_dynamic) {
    constexpr uint32_t kOffsetMask = 0xffff;
    auto where = static_cast<uint32_t>(IntField{found->offset, 4}.read(data, order()));
    offset = where & kOffsetMask;
    size = where >> 16;
    if (found->is_rel_dynamic) offset += found->offset + found->size;
  }
  if (offset > data.size()) return {};
  std::string_view text = as_text(data.subspan(offset, std::min(size, data.size() - offset)));
  return text.substr(0, text.find('\0'));
}

}  // namespace sonde
