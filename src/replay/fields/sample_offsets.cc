#include "replay/fields/sample_offsets.h"

#include <algorithm>
#include <utility>

namespace sonde {

/// Field order in a sample: perf_event_open(2), PERF_RECORD_SAMPLE.
SampleOffsets SampleOffsets::of(uint64_t sample_type) {
  SampleOffsets places;
  uint32_t at = 0;
  auto field = [&](uint64_t bit) {
    if ((sample_type & bit) == 0) return kNowhere;
    return std::exchange(at, at + 8);
  };
  field(abi::kSampleIdentifier);
  places.ip = field(abi::kSampleIp);
  places.tid = field(abi::kSampleTid);
  places.time = field(abi::kSampleTime);
  field(abi::kSampleAddr);
  field(abi::kSampleId);
  field(abi::kSampleStreamId);
  places.cpu = field(abi::kSampleCpu);
  places.period = field(abi::kSamplePeriod);
  places.head_size = at;
  if ((sample_type & abi::kSampleCallchain) != 0) places.chain = at;
  if ((sample_type & abi::kSampleRaw) != 0) places.raw = at;  // after the call chain, if any
  places.is_simple = (sample_type & abi::kSampleRead) == 0;
  return places;
}

bool SampleOffsets::read(const RecordView& record, SampleHead& head) const {
  if (raw == kNowhere || record.payload.size() < raw || time == kNowhere) return false;
  const std::byte* base = record.payload.data();
  head.time = load<uint64_t>(base + time, record.order);
  if (ip != kNowhere) head.ip = load<uint64_t>(base + ip, record.order);
  if (tid != kNowhere) {
    head.pid = load<uint32_t>(base + tid, record.order);
    head.tid = load<uint32_t>(base + tid + 4, record.order);
  }
  if (cpu != kNowhere) head.cpu = load<uint32_t>(base + cpu, record.order);
  return true;
}

Bytes SampleOffsets::raw_data(const RecordView& record, const SampleLayout& layout) const {
  if (raw == kNowhere) return {};
  if (!is_simple) {
    Sample sample;
    return decode_sample(record, layout, sample) ? sample.raw : Bytes{};
  }
  ByteCursor in(record.payload, record.order);
  in.skip(raw);
  if (chain != kNowhere) {
    uint64_t entries = in.u64();
    if (!in.fits(entries, 8)) return {};
    in.skip(entries * 8);
  }
  return in.take(in.u32());
}

void SampleOffsets::read_chain(const RecordView& record, const SampleLayout& layout, size_t limit,
                               Chain& out) const {
  out.size = out.kernel_size = 0;
  if (chain == kNowhere) return;
  Bytes words;
  if (is_simple) {
    ByteCursor in(record.payload, record.order);
    in.skip(chain);
    uint64_t entries = in.u64();
    if (!in.fits(entries, 8)) return;
    words = in.take(entries * 8);
  } else {
    Sample sample;
    if (!decode_sample(record, layout, sample)) return;
    words = sample.callchain.bytes();
  }
  bool is_kernel = false;
  limit = std::min(limit, kMaxAddresses);
  for (size_t at = 0; at < words.size() && out.size < limit; at += 8) {
    auto address = load<uint64_t>(words.data() + at, record.order);
    if (abi::is_callchain_context(address)) {
      is_kernel = address == abi::kContextKernel;
      continue;
    }
    out.addresses[out.size++] = address;
    if (is_kernel) out.kernel_size = out.size;
  }
}

RecordView record_at(const std::byte* header, ByteOrder order) {
  RecordView view;
  view.type = load<uint32_t>(header, order);
  view.misc = load<uint16_t>(header + 4, order);
  auto size = load<uint16_t>(header + 6, order);
  view.payload = {header + sizeof(abi::RecordHeader), size - sizeof(abi::RecordHeader)};
  view.order = order;
  return view;
}

}  // namespace sonde
