#include "perfdata/read/ordering.h"

namespace sonde {

TimedRecord with_time(const RecordView& record, const EventTable& events) {
  TimedRecord timed{0, {}, record};
  if (record.type < abi::kRecordUserStart) timed.event = events.of(record);
  if (!timed.event.valid()) return timed;
  const SampleLayout& layout = events[timed.event].layout;
  SampleId id;
  if (record.type != abi::kRecordSample)
    id = decode_trailing_id(record, layout);
  else
    decode_sample_id(record, layout, id);
  timed.time = id.time;
  return timed;
}

}  // namespace sonde
