#include "capture/opening/lost_counts.h"

#include "perfdata/records/record_encoder.h"

namespace sonde {

uint64_t lost_in_values(Bytes values, uint64_t read_format, uint64_t id) {
  // perf_event_open(2), "Reading results".
  ByteCursor in(values);
  bool has_id = (read_format & abi::kFormatId) != 0;
  auto skip_times = [&] {
    if (read_format & abi::kFormatTotalTimeEnabled) in.u64();
    if (read_format & abi::kFormatTotalTimeRunning) in.u64();
  };
  if ((read_format & abi::kFormatGroup) == 0) {
    in.u64();
    skip_times();
    if (has_id) in.u64();
    uint64_t lost = in.u64();
    return in.ok() ? lost : 0;
  }
  uint64_t count = in.u64();
  skip_times();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    in.u64();
    uint64_t member = has_id ? in.u64() : id;
    uint64_t lost = in.u64();
    if (in.ok() && member == id) return lost;
  }
  return 0;
}

uint64_t LostCountReader::read(Sys& sys, const std::vector<CaptureEvent>& events,
                               ByteBuilder& out) {
  std::vector<std::byte> values(4096);
  for (const CaptureEvent& event : events) {
    const abi::EventAttr& attr = event.attr();
    if ((attr.read_format & abi::kFormatLost) == 0) continue;
    for (const OpenedEvent& opened : event.opened) {
      SysResult<size_t> got = sys.read(opened.fd, values.data(), values.size());
      if (!got) continue;
      uint64_t lost = lost_in_values({values.data(), *got}, attr.read_format, opened.id);
      uint64_t& told = told_[opened.id];
      if (lost <= told) continue;
      uint64_t more = lost - told;
      told = lost;
      total_ += more;
      SampleId id = kSynthesisedId;
      id.id = opened.id;
      id.cpu = static_cast<uint32_t>(opened.cpu);
      id.tid = static_cast<uint32_t>(opened.tid);
      encode(LostSamplesRecord{more}, RecordFrame{.attr = &attr, .id = id}, out);
    }
  }
  return total_;
}

uint64_t read_lost_counts(Sys& sys, const std::vector<CaptureEvent>& events, ByteBuilder& out) {
  return LostCountReader().read(sys, events, out);
}

}  // namespace sonde
