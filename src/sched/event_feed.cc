#include "sched/event_feed.h"

#include "replay/fields/kinds_of_events.h"

namespace sonde {
namespace {

bool tells_of_tasks(uint32_t type) {
  return type == abi::kRecordComm || type == abi::kRecordFork || type == abi::kRecordExit ||
         type == abi::kRecordLost;
}

}  // namespace

class SchedFeed::Cutter {
 public:
  using Item = SchedEvent;
  static constexpr bool kKeepsState = false;
  explicit Cutter(SchedFeed& feed) : feed_(feed) {}

  Cut cut(const RecordView& record, uint32_t id, SchedEvent& event) {
    const EventPlaces& places = feed_.places_[id];
    if (places.kind == SchedKind::kOther || !holds(feed_.wanted_, places.kind))
      return Cut::kNothing;
    if (!places.read_event(record, feed_.walk_.events()[EventId(size_t{id})].layout, event))
      return Cut::kBad;
    event.record = record.raw().data();
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    return Cut::kItem;
  }
  bool cut_other(const OtherRecord& other, SchedEvent& event) {
    if (!tells_of_tasks(other.view.type) || !holds(feed_.wanted_, SchedKind::kRecord)) return false;
    SampleId who = decode_trailing_id(other.view, feed_.walk_.events()[other.event].layout);
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
  SchedFeed& feed_;
};

SchedFeed::SchedFeed(FileWalk& walk, LossLedger& losses)
    : walk_(walk), losses_(losses), places_(places_of(walk.events(), walk.features())) {}

bool SchedFeed::has(SchedKind kind) const {
  return has_kind(places_, kind);
}

void SchedFeed::run(const Take& take) {
  Cutter cutter(*this);
  SortedBy sorted_by = sorts_where_taken_ ? SortedBy::kTaker : SortedBy::kOwnStep;
  counts_ = feed_records(walk_, losses_, cutter, sorted_by, take);
}

}  // namespace sonde
