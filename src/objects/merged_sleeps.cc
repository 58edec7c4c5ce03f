#include "objects/merged_sleeps.h"

#include "perfdata/records/record_encoder.h"
#include "replay/fields/trace_formats.h"

namespace sonde {

Result<std::unique_ptr<MergedSleeps>> MergedSleeps::make(const Recording& recording) {
  std::unique_ptr<MergedSleeps> made(new MergedSleeps());
  made->recording_ = &recording;
  TraceFormats formats(recording);
  for (size_t i = 0; i < recording.events().size(); ++i) {
    const EventDesc& event = recording.events()[EventId(i)];
    const TracepointFormat* format = formats.of(EventId(i));
    Event known;
    if (event.name == "sched:sched_switch") {
      if (!event.attr.samples(abi::kSampleTid))
        return fail(ErrorCode::kFailed,
                    "Samples for {} event do not have TID attribute set: it is not known who slept",
                    event.name);
      known.kind = Kind::kSwitch;
    } else if (event.name == "sched:sched_process_exit") {
      known.kind = Kind::kExit;
    } else if (event.name.starts_with("sched:sched_stat_") && format != nullptr) {
      known = {Kind::kSleep, IntField::of(*format, "pid")};
    }
    made->events_.push_back(known);
  }
  return made;
}

bool MergedSleeps::rewrite(const InjectedRecord& record, ByteBuilder& out) {
  if (record.view.type != abi::kRecordSample || !record.event.valid()) return false;
  const Event& event = events_[record.event.index()];
  if (event.kind == Kind::kOther) return false;
  Sample sample;
  if (!decode_sample(record.view, record.layout, sample)) return false;
  switch (event.kind) {
    case Kind::kSwitch: {
      Bytes payload = record.view.payload;
      last_switch_[sample.id.tid] = {
          {payload.begin(), payload.end()}, record.view.misc, record.event};
      return true;
    }
    case Kind::kExit:
      last_switch_.erase(sample.id.tid);
      return true;
    default:
      return sleep(record, sample, out);
  }
}

/// A sleep whose beginning was not seen is left out.
bool MergedSleeps::sleep(const InjectedRecord& record, const Sample& sample, ByteBuilder& out) {
  auto pid =
      static_cast<uint32_t>(events_[record.event.index()].pid.read(sample.raw, sample.order));
  auto known = last_switch_.find(pid);
  if (known == last_switch_.end()) return true;
  const Switch& before = known->second;
  RecordView view{.type = abi::kRecordSample, .misc = before.misc, .payload = before.payload};
  Sample merged;
  if (!decode_sample(view, recording_->events()[before.event].layout, merged)) return true;
  merged.misc = before.misc;
  merged.period = sample.period;
  merged.id.time = sample.id.time;
  encode_sample(merged, record.layout.attr(), out);
  return true;
}

}  // namespace sonde
