// The sorter of ordering.h for any kind of item: code that needs only a few words of each record
// sorts those. An Item has a `time`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/loss.h"

namespace sonde {

/// Push records in file order; sorted ones come out through `deliver`, in batches. Pure: holds no
/// files and no bytes: the records' memory must live until they were delivered, which happens at
/// the latest at the end of the round after the next.
template <typename Item>
class RoundSorterOf {
 public:
  using Deliver = std::function<void(std::span<const Item>)>;
  /// An item's file offset, for messages.
  using FileOffset = std::function<uint64_t(const Item&)>;
  RoundSorterOf(Deliver deliver, FileOffset file_offset, LossLedger& losses)
      : deliver_(std::move(deliver)), file_offset_(std::move(file_offset)), losses_(losses) {}
  void push(const Item& item);
  void push(std::span<const Item> items);
  void finish_round();
  /// Delivers everything that is left.
  void flush();

 private:
  static constexpr size_t kBatch = 1024;

  /// An ascending run of pending_ that is being merged with the others.
  struct Run {
    uint64_t time;  // of its first item
    size_t begin, end;
    /// Items with equal times keep their order of arrival.
    [[nodiscard]] bool is_before(const Run& other) const {
      return time != other.time ? time < other.time : begin < other.begin;
    }
  };

  [[nodiscard]] size_t ascending(std::span<const Item> items) const;
  void give_out_up_to(uint64_t limit);
  void give_out_run(uint64_t limit);
  void find_runs();
  void merge_runs(uint64_t limit);
  [[nodiscard]] uint64_t earliest_behind_first() const;
  void sift_down();
  void give_out_batch();
  void keep_the_rest();

  Deliver deliver_;
  FileOffset file_offset_;
  LossLedger& losses_;
  std::vector<Item> pending_;
  std::vector<size_t> run_starts_;  // in pending_, except for the first
  std::vector<Run> runs_;           // a heap with the earliest on top
  std::vector<Item> batch_;         // buffer for items delivered together
  size_t filled_ = 0;               // items in batch_
  uint64_t last_pushed_ = 0;
  uint64_t newest_ = 0;     // in this round or before
  uint64_t limit_ = 0;      // newest at the end of the previous round
  uint64_t delivered_ = 0;  // newest time delivered
};

template <typename Item>
void RoundSorterOf<Item>::push(const Item& record) {
  uint64_t time = record.time;
  // The recorder's own records have time 0 or none.
  if (time == 0 || time == UINT64_MAX) [[unlikely]]
    time = last_pushed_;
  last_pushed_ = time;
  if (time < delivered_) [[unlikely]] {
    Item timed = record;
    timed.time = time;
    losses_.add(LossKind::k_out_of_order, 1,
                fmt::format("at file offset {:#x}", file_offset_(record)));
    deliver_({&timed, 1});
    return;
  }
  newest_ = std::max(newest_, time);
  if (!pending_.empty() && time < pending_.back().time) run_starts_.push_back(pending_.size());
  pending_.push_back(record);
  pending_.back().time = time;
}

/// Ascending items are appended together.
template <typename Item>
void RoundSorterOf<Item>::push(std::span<const Item> items) {
  while (!items.empty()) {
    size_t count = ascending(items);
    if (count == 0) {
      push(items.front());
      items = items.subspan(1);
      continue;
    }
    pending_.insert(pending_.end(), items.begin(), items.begin() + static_cast<ptrdiff_t>(count));
    last_pushed_ = items[count - 1].time;
    newest_ = std::max(newest_, last_pushed_);
    items = items.subspan(count);
  }
}

/// How many of them simply continue what was pushed before: none lacks a time or is late.
template <typename Item>
size_t RoundSorterOf<Item>::ascending(std::span<const Item> items) const {
  uint64_t time = std::max<uint64_t>(delivered_, 1);
  if (!pending_.empty()) time = std::max(time, pending_.back().time);
  size_t count = 0;
  while (count < items.size() && items[count].time >= time && items[count].time != UINT64_MAX)
    time = items[count++].time;
  return count;
}

template <typename Item>
void RoundSorterOf<Item>::finish_round() {
  give_out_up_to(limit_);
  limit_ = newest_;
}

template <typename Item>
void RoundSorterOf<Item>::flush() {
  give_out_up_to(UINT64_MAX);
  limit_ = newest_;
}

template <typename Item>
void RoundSorterOf<Item>::give_out_up_to(uint64_t limit) {
  if (pending_.empty()) return;
  if (run_starts_.empty()) {
    give_out_run(limit);
    return;
  }
  find_runs();
  merge_runs(limit);
  keep_the_rest();
}

/// Everything is one run.
template <typename Item>
void RoundSorterOf<Item>::give_out_run(uint64_t limit) {
  auto end = std::ranges::upper_bound(pending_, limit, {}, &Item::time);
  if (end == pending_.begin()) return;
  delivered_ = std::max(delivered_, std::prev(end)->time);
  deliver_({pending_.begin(), end});
  pending_.erase(pending_.begin(), end);
}

template <typename Item>
void RoundSorterOf<Item>::find_runs() {
  runs_.clear();
  size_t begin = 0;
  run_starts_.push_back(pending_.size());
  for (size_t end : run_starts_) {
    runs_.push_back({pending_[begin].time, begin, end});
    begin = end;
  }
  run_starts_.clear();
  std::ranges::make_heap(runs_, [](const Run& a, const Run& b) { return b.is_before(a); });
}

/// Records of one ring are in order, so there are about as many runs as rings, and neighbours in
/// time are neighbours in memory.
template <typename Item>
void RoundSorterOf<Item>::merge_runs(uint64_t limit) {
  batch_.resize(kBatch);
  while (!runs_.empty() && runs_.front().time <= limit) {
    Run& first = runs_.front();
    // As far as it is ahead of all others.
    uint64_t bound = std::min(limit, earliest_behind_first());
    do {
      batch_[filled_] = pending_[first.begin++];
      if (++filled_ == kBatch) give_out_batch();
    } while (first.begin != first.end && pending_[first.begin].time < bound);
    delivered_ = std::max(delivered_, pending_[first.begin - 1].time);
    if (first.begin == first.end) {
      first = runs_.back();
      runs_.pop_back();
    } else {
      first.time = pending_[first.begin].time;
    }
    sift_down();
  }
  give_out_batch();
}

/// Restores the heap after its first run has changed.
template <typename Item>
void RoundSorterOf<Item>::sift_down() {
  size_t at = 0;
  for (size_t child = 1; child < runs_.size(); child = 2 * at + 1) {
    if (child + 1 < runs_.size() && runs_[child + 1].is_before(runs_[child])) ++child;
    if (!runs_[child].is_before(runs_[at])) return;
    std::swap(runs_[child], runs_[at]);
    at = child;
  }
}

template <typename Item>
void RoundSorterOf<Item>::give_out_batch() {
  if (filled_ > 0) deliver_({batch_.data(), filled_});
  filled_ = 0;
}

/// The time of the next item of any run but the first.
template <typename Item>
uint64_t RoundSorterOf<Item>::earliest_behind_first() const {
  uint64_t earliest = UINT64_MAX;
  for (size_t child = 1; child < std::min<size_t>(runs_.size(), 3); ++child)
    earliest = std::min(earliest, runs_[child].time);
  return earliest;
}

/// What was not delivered becomes the first runs of the next round.
template <typename Item>
void RoundSorterOf<Item>::keep_the_rest() {
  std::ranges::sort(runs_, {}, &Run::begin);
  size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept != 0 && pending_[run.begin].time < pending_[kept - 1].time)
      run_starts_.push_back(kept);
    std::copy(pending_.begin() + static_cast<ptrdiff_t>(run.begin),
              pending_.begin() + static_cast<ptrdiff_t>(run.end),
              pending_.begin() + static_cast<ptrdiff_t>(kept));
    kept += run.end - run.begin;
  }
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(kept), pending_.end());
}

}  // namespace sonde
