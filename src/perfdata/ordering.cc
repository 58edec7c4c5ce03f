#include "perfdata/ordering.h"

#include <algorithm>

#include <fmt/format.h>

namespace sonde {
namespace {

/// Merges two ascending runs; equal times of `a` come first. Without branches on the data, which
/// would be mispredicted half of the time.
template <typename Key>
void merge_runs(const Key* a, const Key* a_end, const Key* b, const Key* b_end, Key* to) {
  while (a != a_end && b != b_end) {
    bool take_b = b->time < a->time;
    *to++ = *(take_b ? b : a);
    a += !take_b;
    b += take_b;
  }
  to = std::copy(a, a_end, to);
  std::copy(b, b_end, to);
}

/// Merges neighbouring runs of `from` into `to`, pair by pair; `ends` shrinks to half.
template <typename Key>
void merge_pairs(const std::vector<Key>& from, std::vector<Key>& to, std::vector<size_t>& ends) {
  size_t begin = 0, kept = 0;
  const Key* keys = from.data();
  for (size_t run = 0; run < ends.size(); run += 2) {
    size_t middle = ends[run];
    size_t end = run + 1 < ends.size() ? ends[run + 1] : middle;
    merge_runs(keys + begin, keys + middle, keys + middle, keys + end, to.data() + begin);
    ends[kept++] = begin = end;
  }
  ends.resize(kept);
}

}  // namespace

RoundSorter::RoundSorter(Deliver deliver, LossLedger& losses)
    : deliver_(std::move(deliver)), losses_(losses) {}

void RoundSorter::push(const TimedRecord& record) {
  TimedRecord timed = record;
  // The recorder's own records have time 0 or none.
  if (timed.time == 0 || timed.time == UINT64_MAX) timed.time = last_pushed_;
  last_pushed_ = timed.time;
  if (timed.time < delivered_) [[unlikely]] {
    losses_.add(LossKind::k_out_of_order, 1,
                fmt::format("at file offset {:#x}", timed.record.file_offset));
    deliver_({&timed, 1});
    return;
  }
  newest_ = std::max(newest_, timed.time);
  pending_.push_back(timed);
}

void RoundSorter::finish_round() {
  give_out_up_to(limit_);
  limit_ = newest_;
}

void RoundSorter::flush() {
  give_out_up_to(UINT64_MAX);
  limit_ = newest_;
}

void RoundSorter::give_out_up_to(uint64_t limit) {
  if (pending_.empty()) return;
  if (find_runs()) {
    give_out_sorted(limit);
    return;
  }
  sort_keys();
  batch_.clear();
  size_t given = 0;
  for (; given < keys_.size() && keys_[given].time <= limit; ++given) {
    batch_.push_back(pending_[keys_[given].arrival]);
    if (batch_.size() == kBatch) give_out_batch();
  }
  if (given > 0) delivered_ = std::max(delivered_, keys_[given - 1].time);
  give_out_batch();
  keep_from(given);
}

/// Notes where ascending runs end; true where everything is one run.
bool RoundSorter::find_runs() {
  run_ends_.clear();
  for (size_t i = 1; i < pending_.size(); ++i)
    if (pending_[i].time < pending_[i - 1].time) run_ends_.push_back(i);
  run_ends_.push_back(pending_.size());
  return run_ends_.size() == 1;
}

/// Records of one ring are in order, so there are as many runs as rings: merging them costs far
/// less than a sort from nothing.
void RoundSorter::sort_keys() {
  keys_.resize(pending_.size());
  for (size_t i = 0; i < pending_.size(); ++i)
    keys_[i] = {pending_[i].time, static_cast<uint32_t>(i)};
  merged_.resize(keys_.size());
  while (run_ends_.size() > 1) {
    merge_pairs(keys_, merged_, run_ends_);
    keys_.swap(merged_);
  }
}

void RoundSorter::give_out_sorted(uint64_t limit) {
  auto end = std::ranges::upper_bound(pending_, limit, {}, &TimedRecord::time);
  if (end == pending_.begin()) return;
  delivered_ = std::max(delivered_, std::prev(end)->time);
  deliver_({pending_.begin(), end});
  pending_.erase(pending_.begin(), end);
}

void RoundSorter::give_out_batch() {
  if (!batch_.empty()) deliver_(batch_);
  batch_.clear();
}

/// What was not given out stays, sorted, as the first run of the next round.
void RoundSorter::keep_from(size_t first) {
  for (size_t i = first; i < keys_.size(); ++i) batch_.push_back(pending_[keys_[i].arrival]);
  pending_.swap(batch_);
  batch_.clear();
}

}  // namespace sonde
