#include "replay/passes/tracepoint_pipeline.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr size_t kLastEvent = UINT16_MAX;  // the highest index that an item can hold

}  // namespace

class TracepointPipeline::Decoder {
 public:
  using Item = TracepointItem;
  static constexpr bool kKeepsState = false;
  explicit Decoder(const TracepointPipeline& pipeline) : pipeline_(pipeline) {}

  Decoded decode(const RecordView& record, uint32_t id, TracepointItem& item) {
    const Event& event = pipeline_.events_[id];
    if (!event.is_wanted) return Decoded::kNothing;
    SampleHead head;
    if (!event.places.read(record, head) || head.cpu >= kMaxCpus) return Decoded::kBad;
    Bytes raw = event.places.raw_data(record, pipeline_.scan_.events()[EventId(size_t{id})].layout);
    if (raw.empty()) return Decoded::kBad;
    item.time = head.time;
    item.record = record.raw().data();
    for (size_t i = 0; i < event.fields.size(); ++i)
      item.values[i] = event.fields[i].read(raw, record.order);
    item.pid = head.pid;
    item.tid = head.tid;
    item.cpu = head.cpu;
    item.event = static_cast<uint16_t>(id);
    item.kind = event.kind;
    return Decoded::kItem;
  }
  bool decode_other(const OtherRecord& other, TracepointItem& item) {
    if (std::ranges::find(pipeline_.types_, other.view.type) == pipeline_.types_.end())
      return false;
    SampleId who = decode_trailing_id(other.view, pipeline_.scan_.events()[other.event].layout);
    item.time = other.time;
    item.record = other.view.raw().data();
    item.pid = who.pid;
    item.tid = who.tid;
    item.cpu = who.has_cpu() ? who.cpu : 0;
    item.event = static_cast<uint16_t>(other.event.value);
    item.kind = TracepointItem::kOther;
    return true;
  }

 private:
  const TracepointPipeline& pipeline_;
};

TracepointPipeline::TracepointPipeline(FileScan& scan, std::span<const TracepointRequest> requests,
                                       LossLedger& losses)
    : scan_(scan), losses_(losses), formats_(scan.events(), scan.features()) {
  events_.resize(scan.events().size());
  for (size_t i = 0; i < events_.size() && i < kLastEvent; ++i) {
    const EventDesc& desc = scan.events()[EventId(i)];
    const TracepointFormat* format = formats_.of(EventId(i));
    if (format == nullptr) continue;
    for (const TracepointRequest& request : requests) {
      if (request.name != desc.name) continue;
      Event& event = events_[i];
      event.is_wanted = true;
      event.kind = request.kind;
      event.places = SampleOffsets::of(desc.attr.sample_type);
      for (size_t field = 0; field < request.fields.size(); ++field)
        event.fields[field] = IntField::of(*format, request.fields[field]);
    }
  }
}

bool TracepointPipeline::has(uint8_t kind) const {
  return std::ranges::any_of(
      events_, [&](const Event& event) { return event.is_wanted && event.kind == kind; });
}

void TracepointPipeline::run(const std::function<void(std::span<const TracepointItem>)>& take,
                             SortedBy sorted_by) {
  Decoder decoder(*this);
  counts_ = process_records(scan_, losses_, decoder, sorted_by, take);
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
