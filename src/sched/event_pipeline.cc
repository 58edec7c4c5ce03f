#include "sched/event_pipeline.h"

#include "replay/fields/kinds_of_events.h"

namespace sonde {
namespace {

bool tells_of_tasks(uint32_t type) {
  return type == abi::kRecordComm || type == abi::kRecordFork || type == abi::kRecordExit ||
         type == abi::kRecordLost;
}

}  // namespace

class SchedPipeline::Decoder {
 public:
  using Item = SchedEvent;
  static constexpr bool kKeepsState = false;
  explicit Decoder(SchedPipeline& pipeline) : pipeline_(pipeline) {}

  Decoded decode(const RecordView& record, uint32_t id, SchedEvent& event) {
    const EventOffsets& places = pipeline_.places_[id];
    if (places.kind == SchedKind::kOther || !holds(pipeline_.wanted_, places.kind))
      return Decoded::kNothing;
    if (!places.read_event(record, pipeline_.scan_.events()[EventId(size_t{id})].layout, event))
      return Decoded::kBad;
    event.record = record.raw().data();
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    return Decoded::kItem;
  }
  bool decode_other(const OtherRecord& other, SchedEvent& event) {
    if (!tells_of_tasks(other.view.type) || !holds(pipeline_.wanted_, SchedKind::kRecord))
      return false;
    SampleId who = decode_trailing_id(other.view, pipeline_.scan_.events()[other.event].layout);
    event = {.time = other.time,
             .record = other.view.raw().data(),
             .pid = who.pid,
             .tid = who.tid,
             .cpu = static_cast<uint16_t>(who.has_cpu() && who.cpu < kMaxCpus ? who.cpu : 0),
             .event = static_cast<uint16_t>(other.event.value),
             .kind = SchedKind::kRecord};
    return true;
  }

 private:
  SchedPipeline& pipeline_;
};

SchedPipeline::SchedPipeline(FileScan& scan, LossLedger& losses)
    : scan_(scan), losses_(losses), places_(places_of(scan.events(), scan.features())) {}

bool SchedPipeline::has(SchedKind kind) const {
  return has_kind(places_, kind);
}

void SchedPipeline::run(const Take& take) {
  Decoder decoder(*this);
  SortedBy sorted_by = sorts_where_taken_ ? SortedBy::kConsumer : SortedBy::kOwnStep;
  counts_ = process_records(scan_, losses_, decoder, sorted_by, take);
}

}  // namespace sonde
