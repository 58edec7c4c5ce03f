#include "perfdata/read/lost_tally.h"

#include <algorithm>
#include <numeric>

#include "perfdata/header/dummy_event.h"
#include "perfdata/records/sideband.h"

namespace sonde {
namespace {

// linux/perf_event.h: PERF_RECORD_MISC_LOST_SAMPLES_BPF.
constexpr uint16_t kMiscDroppedByFilter = 1u << 15;

bool counts_losses(const abi::EventAttr& attr) {
  return (attr.read_format & abi::kFormatLost) != 0;
}

/// Whether records of tasks and memory are written through this event.
bool has_sideband(const abi::EventAttr& attr) {
  return attr.mmap || attr.mmap2 || attr.comm || attr.task || attr.context_switch ||
         attr.namespaces || attr.ksymbol || attr.bpf_event || attr.cgroup || attr.text_poke;
}

/// Whether a LOST_SAMPLES record was made from the event's count when the recording ended.
bool is_of_recorder(const RecordView& record, const EventDesc& event) {
  if (!counts_losses(event.attr)) return false;
  SampleId who = decode_trailing_id(record, event.layout);
  return !who.has_time() || who.time == 0;
}

uint64_t sum(const std::vector<uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

}  // namespace

void LostTally::add_to(std::vector<uint64_t>& sums, size_t event, uint64_t lost) {
  if (event >= sums.size()) sums.resize(event + 1);
  sums[event] += lost;
}

void LostTally::add(const RecordView& record, EventId event, const EventTable& events) {
  SampleLayout none;
  const SampleLayout& layout = event.valid() ? events[event].layout : none;
  if (record.type == abi::kRecordLost) {
    if (auto lost = decode_as<LostRecord>(record, layout)) in_rings_ += lost->lost;
    return;
  }
  if (record.type != abi::kRecordLostSamples || (record.misc & kMiscDroppedByFilter) != 0) return;
  auto lost = decode_as<LostSamplesRecord>(record, layout);
  if (!lost) return;
  if (!event.valid())
    of_no_event_ += lost->lost;
  else if (is_of_recorder(record, events[event]))
    add_to(counted_, event.index(), lost->lost);
  else
    add_to(hardware_, event.index(), lost->lost);
}

void LostTally::add(const LostTally& other) {
  in_rings_ += other.in_rings_;
  of_no_event_ += other.of_no_event_;
  for (size_t i = 0; i < other.counted_.size(); ++i) add_to(counted_, i, other.counted_[i]);
  for (size_t i = 0; i < other.hardware_.size(); ++i) add_to(hardware_, i, other.hardware_[i]);
}

LostCounts LostTally::counts(const EventTable& events) const {
  LostCounts lost;
  lost.by_hardware = sum(hardware_) + of_no_event_;
  lost.samples = lost.by_hardware;
  lost.by_event.resize(events.size());
  for (size_t i = 0; i < hardware_.size() && i < events.size(); ++i)
    lost.by_event[i] += hardware_[i];
  bool all_count = true;
  for (size_t i = 0; i < events.size(); ++i) {
    const abi::EventAttr& attr = events[EventId(i)].attr;
    uint64_t count = i < counted_.size() ? counted_[i] : 0;
    lost.by_event[i] += count;
    if (is_dummy(attr)) {
      lost.others += count;
      continue;
    }
    lost.samples += count;
    lost.has_sideband |= count > 0 && has_sideband(attr);
    all_count &= counts_losses(attr);
  }
  uint64_t counted = sum(counted_);
  uint64_t beyond = in_rings_ - std::min(in_rings_, counted);
  (all_count && counted > 0 ? lost.others : lost.maybe) += beyond;
  return lost;
}

void count_losses(const LostCounts& lost, LossLedger& losses, const LostCounts& before) {
  if (uint64_t in_rings = lost.in_rings() - before.in_rings(); in_rings > 0)
    losses.add(LossKind::k_lost_by_kernel, in_rings,
               lost.others > 0 ? "not all of them samples" : "");
  if (uint64_t by_hardware = lost.by_hardware - before.by_hardware; by_hardware > 0)
    losses.add(LossKind::k_lost_samples, by_hardware);
}

}  // namespace sonde
