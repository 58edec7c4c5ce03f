// What an analysis wants of each record of a recording, in order of time, in bounded memory.
//
// One thread walks over the file and has a Cutter cut an Item out of each record that matters;
// items are sorted by rounds (perfdata/ordering.h), and the caller's thread takes them, some
// thousands at a time. So an analysis rarely touches a record, and what is held are two rounds of
// items.
//
//   struct MyCutter {
//     using Item = …;                                            // with `time`,
//     place_in_file(item) Cut cut(const RecordView& sample, uint32_t event, Item&);  // runs on the
//     thread that reads bool cut_other(const OtherRecord& record, Item&);          // COMM, MMAP,
//     LOST …; kernel's only
//   };
//   FeedCounts counts = feed_records(walk, losses, cutter, SortedBy::kReader, take);
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/loss.h"
#include "perfdata/file_walk.h"
#include "perfdata/round_sorter.h"
#include "perfdata/sideband.h"
#include "replay/event_ids.h"
#include "replay/sideband_pass.h"

namespace sonde {

enum class Cut : uint8_t {
  kItem,
  kNothing,  // the sample does not matter
  kBad,      // it is damaged
};

/// Who sorts: the thread that has less to do.
enum class SortedBy : uint8_t { kReader, kTaker };

struct FeedCounts {
  uint64_t records = 0;      // of every type
  uint64_t lost = 0;         // events that the kernel says it lost
  uint64_t lost_chunks = 0;  // records that say so
};

/// Items on their way, and the places among them where rounds end.
template <typename Item>
struct FeedBatch {
  static constexpr size_t kItems = 4096;
  std::vector<Item> items;
  size_t filled = 0;
  std::vector<size_t> round_ends;  // only where the taker sorts

  void put(const Item& item) {
    // push_back would look for room each time. What is there from the time before is written over.
    if (filled == 0) items.resize(kItems);
    items[filled++] = item;
  }
  [[nodiscard]] bool is_full() const { return filled >= kItems; }
  void append(std::span<const Item> more) {
    items.resize(filled);
    items.insert(items.end(), more.begin(), more.end());
    filled = items.size();
  }
  void clear() {
    filled = 0;
    round_ends.clear();
  }
};

/// Batches from the reader to who takes them; emptied ones go back to be filled again.
template <typename Batch>
class BatchQueue {
 public:
  /// An empty batch; waits while too many are under way.
  Batch get_empty() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return under_way_ < kAhead; });
    ++under_way_;
    if (empty_.empty()) return {};
    Batch batch = std::move(empty_.back());
    empty_.pop_back();
    return batch;
  }
  void put_full(Batch batch) {
    std::lock_guard lock(mutex_);
    full_.push_back(std::move(batch));
    arrived_.notify_one();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  /// Nothing at the end.
  std::optional<Batch> get_full() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return closed_ || !full_.empty(); });
    if (full_.empty()) return std::nullopt;
    Batch batch = std::move(full_.front());
    full_.erase(full_.begin());
    return batch;
  }
  void put_empty(Batch batch) {
    batch.clear();
    std::lock_guard lock(mutex_);
    empty_.push_back(std::move(batch));
    --under_way_;
    room_.notify_one();
  }

 private:
  static constexpr size_t kAhead = 8;
  std::mutex mutex_;
  std::condition_variable room_, arrived_;
  std::vector<Batch> empty_, full_;
  size_t under_way_ = 0;
  bool closed_ = false;
};

/// The thread that reads.
template <typename Cutter>
class FeedReader {
 public:
  using Item = typename Cutter::Item;
  using Batch = FeedBatch<Item>;

  FeedReader(FileWalk& walk, LossLedger& losses, Cutter& cutter, SortedBy sorted_by,
             BatchQueue<Batch>& queue)
      : walk_(walk),
        losses_(losses),
        cutter_(cutter),
        sorts_(sorted_by == SortedBy::kReader),
        queue_(queue),
        ids_(walk.events()),
        order_(walk.facts().order),
        sorter_([this](std::span<const Item> items) { give(items); }, losses) {
    batch_ = queue_.get_empty();
  }

  void read_all() {
    for (auto blocks = walk_.next(); !blocks.empty() && !is_over(); blocks = walk_.next())
      for (const RecordBlock& block : blocks) read(block);
    if (sorts_) sorter_.flush();
    hand_over();
    queue_.put_empty(std::move(batch_));
    losses_.add(LossKind::k_lost_by_kernel, counts_.lost);
    losses_.add(LossKind::k_unknown_event_id, unknown_ids_);
    losses_.add(LossKind::k_bad_record, bad_);
    queue_.close();
  }
  [[nodiscard]] const FeedCounts& counts() const { return counts_; }

 private:
  /// A cutter may say that nothing more is wanted.
  [[nodiscard]] bool is_over() const {
    if constexpr (requires { cutter_.is_over(); }) return cutter_.is_over();
    return false;
  }
  void read(const RecordBlock& block) {
    RecordView record;
    for (RecordRange range(block, order_); range.next(record);) {
      ++counts_.records;
      if (record.type == abi::kRecordSample)
        take_sample(record);
      else
        take_other(record);
    }
  }
  void take_sample(const RecordView& record) {
    uint32_t id = ids_.of(record);
    if (id == EventId::kNone) {
      ++unknown_ids_;
      return;
    }
    Item item;
    switch (cutter_.cut(record, id, item)) {
      case Cut::kItem:
        return pass_on(item);
      case Cut::kNothing:
        return;
      case Cut::kBad:
        ++bad_;
        return;
    }
  }
  void take_other(const RecordView& record) {
    if (record.type == abi::kRecordFinishedRound) {
      // Rounds of the files of a directory have nothing to do with each other.
      if (walk_.facts().is_directory) return;
      if (sorts_)
        sorter_.finish_round();
      else
        batch_.round_ends.push_back(batch_.filled);
      return;
    }
    if (record.type >= abi::kRecordUserStart || walk_.events().size() == 0) return;
    EventId id = walk_.events().of(record);
    if (!id.valid()) id = EventId(size_t{0});
    const SampleLayout& layout = walk_.events()[id].layout;
    if (record.type == abi::kRecordLost) count_lost(record, layout);
    SampleId who = decode_trailing_id(record, layout);
    Item item;
    if (cutter_.cut_other({who.has_time() ? who.time : 0, id, record}, item)) pass_on(item);
  }
  void count_lost(const RecordView& record, const SampleLayout& layout) {
    auto lost = decode_as<LostRecord>(record, layout);
    if (!lost) return;
    counts_.lost += lost->lost;
    ++counts_.lost_chunks;
  }
  void pass_on(const Item& item) {
    if (sorts_) {
      sorter_.push(item);
      return;
    }
    batch_.put(item);
    if (batch_.is_full()) [[unlikely]]
      hand_over();
  }
  void give(std::span<const Item> items) {
    batch_.append(items);
    if (batch_.is_full()) hand_over();
  }
  [[gnu::noinline]] void hand_over() {
    batch_.items.resize(batch_.filled);
    queue_.put_full(std::move(batch_));
    batch_ = queue_.get_empty();
  }

  FileWalk& walk_;
  LossLedger& losses_;
  Cutter& cutter_;
  bool sorts_;
  BatchQueue<Batch>& queue_;
  EventIds ids_;
  ByteOrder order_;
  RoundSorterOf<Item> sorter_;
  Batch batch_;
  FeedCounts counts_;
  uint64_t unknown_ids_ = 0, bad_ = 0;
};

/// Reads everything, once; `walk` must be at its start. `take` runs on the caller's thread.
template <typename Cutter>
FeedCounts feed_records(FileWalk& walk, LossLedger& losses, Cutter& cutter, SortedBy sorted_by,
                        const std::function<void(std::span<const typename Cutter::Item>)>& take) {
  using Item = typename Cutter::Item;
  BatchQueue<FeedBatch<Item>> queue;
  FeedReader<Cutter> reader(walk, losses, cutter, sorted_by, queue);
  std::jthread thread([&reader] { reader.read_all(); });
  RoundSorterOf<Item> sorter(take, losses);
  while (std::optional<FeedBatch<Item>> batch = queue.get_full()) {
    if (sorted_by == SortedBy::kReader) {
      take(batch->items);
    } else {
      size_t done = 0;
      for (size_t end : batch->round_ends) {
        for (; done < end; ++done) sorter.push(batch->items[done]);
        sorter.finish_round();
      }
      for (; done < batch->items.size(); ++done) sorter.push(batch->items[done]);
    }
    queue.put_empty(std::move(*batch));
  }
  sorter.flush();
  thread.join();
  return reader.counts();
}

}  // namespace sonde
