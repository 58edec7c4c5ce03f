#include "sched/event_pipeline.h"

namespace sonde {
namespace {

bool tells_of_tasks(uint32_t type) {
  return type == abi::kRecordComm || type == abi::kRecordFork || type == abi::kRecordExit ||
         type == abi::kRecordLost;
}

struct SchedReader {
  static constexpr bool kKeepsState = false;
  SchedKinds wanted;

  [[nodiscard]] bool wants(const EventOffsets& fields) const {
    return fields.kind != SchedKind::kOther && holds(wanted, fields.kind);
  }
  static Decoded read(const EventOffsets& fields, const RecordView& record,
                      const SampleLayout& layout, SchedEvent& event) {
    return fields.read_event(record, layout, event) ? Decoded::kItem : Decoded::kBad;
  }
  [[nodiscard]] bool read_other(const OtherRecord& other, const SampleLayout& layout,
                                SchedEvent& event) const {
    if (!tells_of_tasks(other.view.type) || !holds(wanted, SchedKind::kRecord)) return false;
    SampleId who = decode_trailing_id(other.view, layout);
    event.pid = who.pid;
    event.tid = who.tid;
    event.cpu = static_cast<uint16_t>(who.has_cpu() && who.cpu < kMaxCpus ? who.cpu : 0);
    event.kind = SchedKind::kRecord;
    return true;
  }
};

}  // namespace

void SchedPipeline::run(const Take& take) {
  SchedReader reader{wanted_};
  scan_with(reader, sorts_where_taken_ ? SortedBy::kConsumer : SortedBy::kOwnStep, take);
}

}  // namespace sonde
