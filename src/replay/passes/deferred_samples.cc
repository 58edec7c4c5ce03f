#include "replay/passes/deferred_samples.h"

#include <fmt/format.h>

#include <utility>

#include "base/large_vector.h"
#include "perfdata/records/damage.h"
#include "replay/branches/branch_events.h"
#include "replay/fields/read_values.h"
#include "replay/passes/sideband_pass.h"

namespace sonde {

void count_bad(const ScanRun& run, LossLedger& losses) {
  if (run.kind == ScanRun::Kind::kBadRecord) {
    losses.add(LossKind::k_bad_record, 1,
               damage_text(abi::kRecordSample, run.file_offset, kShortSample));
    losses.add_bytes({.damaged = run.size});
  } else if (run.kind == ScanRun::Kind::kUnknownEvent) {
    losses.add(LossKind::k_unknown_event_id, 1,
               fmt::format("at file offset {:#x}", run.file_offset));
  }
}

bool DeferredSamples::begin(const EventTable& events) {
  if (events.size() > kMaxEventsByPlace || file_order_is_time(events) || has_read_values(events) ||
      has_branch_stacks(events))
    return false;
  constexpr uint64_t kSimple = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTid |
                               abi::kSampleTime | abi::kSampleAddr | abi::kSampleId |
                               abi::kSampleStreamId | abi::kSampleCpu | abi::kSamplePeriod |
                               abi::kSampleCallchain;
  events_ = &events;
  for (const EventDesc& event : events.all()) {
    uint64_t type = event.attr.sample_type;
    bool is_simple = (type & ~kSimple) == 0 && event.attr.samples(abi::kSampleIp) &&
                     event.attr.samples(abi::kSampleTid);
    known_.push_back({SampleOffsets::of(type), event.attr.sample_period, is_simple});
  }
  return true;
}

bool DeferredSamples::wants_more(size_t part) {
  runs_ += std::exchange(parts_[part].runs, 0);
  return runs_ < kMaxRuns && !memory_.is_used_up();
}

DeferredSamples::Memory::~Memory() {
  if (mapping_ != nullptr)
    LargeAllocator<ScanSegment::Sample>().deallocate(mapping_, most_ * kChunk);
}

ScanSegment::Sample* DeferredSamples::Memory::chunk() {
  size_t number = next_++;
  if (number < kSmall || number >= most_) {
    std::scoped_lock lock(mutex_);
    return small_.emplace_back(std::make_unique_for_overwrite<ScanSegment::Sample[]>(kChunk)).get();
  }
  std::call_once(mapped_, [this] {
    mapping_ = LargeAllocator<ScanSegment::Sample>().allocate(most_ * kChunk);
  });
  return mapping_ + number * kChunk;
}

inline bool DeferredSamples::read_simple(const Known& event, const RecordView& record,
                                         Fields& fields) {
  const SampleOffsets& places = event.places;
  const std::byte* base = record.payload.data();
  size_t size = record.payload.size();
  if (size < places.head_size) return false;
  if (places.chain != SampleOffsets::kNowhere) {
    if (size - places.chain < 8) return false;
    if (load<uint64_t>(base + places.chain, kHostOrder) > (size - places.chain) / 8 - 1)
      return false;
  }
  fields.ip = load<uint64_t>(base + places.ip, kHostOrder);
  fields.time = load<uint64_t>(base + places.time, kHostOrder);
  fields.pid = load<uint32_t>(base + places.tid, kHostOrder);
  fields.period = places.period == SampleOffsets::kNowhere
                      ? event.period
                      : load<uint64_t>(base + places.period, kHostOrder);
  fields.cpu_mode = record.cpu_mode();
  return true;
}

inline void DeferredSamples::add(Part& part, const Fields& fields, EventId event) {
  ScanRun& run = part.run;
  uint64_t upper_period = fields.period & ~uint64_t{UINT32_MAX};
  bool goes_on = run.pid == fields.pid && run.period == upper_period &&
                 fields.time - run.time <= UINT32_MAX && run.cpu_mode == fields.cpu_mode &&
                 run.event == event.value && run.kind == ScanRun::Kind::kGood;
  if (!goes_on || part.next == part.end) [[unlikely]] {
    // Samples of several CPUs are not quite in order.
    constexpr uint64_t kBackward = 1'000'000'000;
    begin_run(part, {.time = fields.time > kBackward ? fields.time - kBackward : 0,
                     .period = upper_period,
                     .pid = fields.pid,
                     .event = static_cast<uint16_t>(event.value),
                     .cpu_mode = static_cast<uint8_t>(fields.cpu_mode)});
  }
  *part.next++ = ScanSegment::Sample::at(fields.ip, static_cast<uint32_t>(fields.time - run.time),
                                         static_cast<uint32_t>(fields.period));
}

inline void DeferredSamples::take(Part& part, const RecordView& record) {
  EventId event = events_->of(record);
  if (!event.valid()) return add_bad(part, ScanRun::Kind::kUnknownEvent, record);
  const Known& known = known_[event.index()];
  Fields fields;
  if (known.is_simple && record.order == kHostOrder) {
    if (!read_simple(known, record, fields))
      return add_bad(part, ScanRun::Kind::kBadRecord, record);
  } else {
    Sample& sample = part.sample;
    if (!decode_sample_for_sums(record, (*events_)[event].layout, sample))
      return add_bad(part, ScanRun::Kind::kBadRecord, record);
    fields = {sample.ip, sample.id.time, sample.period, sample.id.pid, sample.cpu_mode};
  }
  add(part, fields, event);
}

SampleObserver::Taken DeferredSamples::take(size_t part_number, Bytes bytes, uint64_t file_offset,
                                            ByteOrder order) {
  Part& part = parts_[part_number];
  return for_each_sample(bytes, file_offset, order,
                         [&](const RecordView& record) { take(part, record); });
}

void DeferredSamples::add_bad(Part& part, ScanRun::Kind why, const RecordView& record) {
  begin_run(part, {.kind = why,
                   .size = static_cast<uint32_t>(record.size()),
                   .file_offset = record.file_offset});
}

void DeferredSamples::begin_run(Part& part, const ScanRun& run) {
  if (part.next == part.end) {
    part.next = memory_.chunk();
    part.end = part.next + kChunk;
    part.chunks.push_back({{}, part.next, part.end});
  }
  Chunk& chunk = part.chunks.back();
  part.run = run;
  part.run.first = static_cast<uint32_t>(part.next - chunk.samples);
  ++part.runs;
  chunk.runs.push_back(part.run);
}

std::vector<ScanSegment> DeferredSamples::segments() {
  std::vector<ScanSegment> all;
  for (Part& part : parts_) {
    if (!part.chunks.empty()) part.chunks.back().end = part.next;
    for (Chunk& chunk : part.chunks) all.push_back({chunk.runs, {chunk.samples, chunk.end}});
  }
  return all;
}

}  // namespace sonde
