#include "replay/passes/time_batches.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/parallel.h"
#include "base/sorting/merge_runs.h"

namespace sonde {
namespace {

/// Calls body(time, offset) for the samples of a block.
template <typename Body>
void for_each_time(const Recording& recording, const SidebandResult& sideband, size_t block,
                   const Body& body) {
  const EventTable& events = recording.events();
  RecordRange range(recording.blocks()[block], recording.byte_order());
  uint64_t rank = sideband.records_before[block];
  uint64_t time = 0;
  size_t offset = 0;
  for (RecordView record; range.next(record); offset = range.stopped_at(), ++rank) {
    if (record.type != abi::kRecordSample) continue;
    SampleId id;
    EventId event = events.of(record);
    if (sideband.rank_is_time)
      time = rank;
    else if (event.valid() && decode_sample_id(record, events[event].layout, id))
      time = id.has_time() ? id.time : rank;
    body(time, static_cast<uint32_t>(offset));
  }
}

bool is_before(const TimedSample& a, const TimedSample& b) {
  return std::tie(a.time, a.where.block, a.where.offset) <
         std::tie(b.time, b.where.block, b.where.offset);
}

}  // namespace

TimeBatches::TimeBatches(const Recording& recording, const SidebandResult& sideband, Limits limits)
    : recording_(recording), sideband_(sideband), limits_(limits), walked_(limits.blocks) {
  std::vector<std::optional<uint64_t>> earliest(recording.blocks().size());
  parallel_for(earliest.size(), [&](size_t block) {
    if (sideband.samples_before[block] == sideband.samples_before[block + 1]) return;
    for_each_time(recording, sideband, block, [&](uint64_t time, uint32_t) {
      earliest[block] = std::min(earliest[block].value_or(time), time);
    });
    release(block);
  });
  for (size_t block = 0; block < earliest.size(); ++block)
    if (earliest[block]) starts_.push_back({*earliest[block], static_cast<uint32_t>(block)});
  std::ranges::stable_sort(starts_, {}, &Start::time);
}

void TimeBatches::release(size_t block) const {
  recording_.release_pages(std::span(recording_.blocks()).subspan(block, 1));
}

std::span<const TimedSample> TimeBatches::next() {
  while (given_ == ready_ && taken_ < starts_.size()) take_blocks();
  // Parts of the same size: a small one would make threads wait for each other.
  size_t left = ready_ - given_;
  size_t parts = (left + limits_.samples - 1) / limits_.samples;
  size_t count = parts == 0 ? 0 : (left + parts - 1) / parts;
  given_ += count;
  return std::span<const TimedSample>(pending_).subspan(given_ - count, count);
}

void TimeBatches::take_blocks() {
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(given_));
  given_ = 0;
  // Their records are not read again, but for the few samples that wait for others.
  for (; released_ < taken_; ++released_) release(starts_[released_].block);
  std::span<const Start> blocks = std::span<const Start>(starts_).subspan(
      taken_, std::min(limits_.blocks, starts_.size() - taken_));
  taken_ += blocks.size();
  parallel_for(blocks.size(), [&](size_t i) {
    walked_[i].clear();
    uint32_t block = blocks[i].block;
    for_each_time(recording_, sideband_, block, [&](uint64_t time, uint32_t offset) {
      walked_[i].push_back({time, {block, offset}});
    });
  });
  for (size_t i = 0; i < blocks.size(); ++i)
    pending_.insert(pending_.end(), walked_[i].begin(), walked_[i].end());
  merge_runs(pending_, is_before);
  // Of equal times, one in a block that is left may come first.
  auto end = taken_ == starts_.size()
                 ? pending_.end()
                 : std::ranges::lower_bound(pending_, starts_[taken_].time, {}, &TimedSample::time);
  ready_ = static_cast<size_t>(end - pending_.begin());
}

}  // namespace sonde
