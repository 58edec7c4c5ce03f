// Extracts what an analysis needs from each record of a recording, in time order, in bounded
// memory.
//
// A Cutter cuts an Item out of each record that matters, items are sorted by rounds
// (perfdata/read/ordering.h), and `take` receives them, some thousands at a time. So an analysis
// rarely touches a record, and only two rounds of items are held in memory.
//
// The file is processed in loads of half a megabyte, each of which is walked over, cut, sorted and
// taken. Loads are cut in parallel; the other steps see them one by one in file order. Where
// possible, the thread that walked over a load continues with it, so that it stays in that core's
// cache.
//
//   struct MyCutter {
//     using Item = …;  // with `time`, place_in_file(item)
//     // False: both functions are called by several threads at a time.
//     // True: loads are cut one by one, in file order.
//     static constexpr bool kKeepsState = false;
//     Cut cut(const RecordView& sample, uint32_t event, Item& item);
//     // COMM, MMAP, LOST …: the kernel's only.
//     bool cut_other(const OtherRecord& record, Item& item);
//   };
//   FeedCounts counts = feed_records(walk, losses, cutter, SortedBy::kTaker, take);
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <array>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "base/loss.h"
#include "perfdata/read/file_walk.h"
#include "perfdata/read/round_sorter.h"
#include "perfdata/records/sideband.h"
#include "replay/fields/event_ids.h"
#include "replay/passes/sideband_pass.h"

namespace sonde {

enum class Cut : uint8_t {
  kItem,
  kNothing,  // the sample does not matter
  kBad,      // it is damaged
};

/// Whether items are sorted in parallel with `take` working on others, which costs a copy of each,
/// or by the same thread right before: better if `take` is less than half of the work.
enum class SortedBy : uint8_t { kOwnStep, kTaker };

struct FeedCounts {
  uint64_t records = 0;      // of every type
  uint64_t lost = 0;         // events that the kernel reports as lost
  uint64_t lost_chunks = 0;  // records that report them
};

/// The sums over all loads.
struct FeedTally {
  FeedCounts counts;
  uint64_t unknown_ids = 0, bad = 0;

  void add(const FeedTally& other) {
    counts.records += other.counts.records;
    counts.lost += other.counts.lost;
    counts.lost_chunks += other.counts.lost_chunks;
    unknown_ids += other.unknown_ids;
    bad += other.bad;
  }
};

/// A batch of the file on its way through the steps.
template <typename Item>
struct FeedLoad {
  RecordBlock block;
  std::vector<Item> items;  // the first `filled` are valid; the rest is left from earlier loads
  size_t filled = 0;
  std::vector<size_t> round_ends;  // positions among them
  std::vector<Item> sorted;        // ready to be taken, if sorting is a step of its own
  FeedTally tally;

  void begin(const RecordBlock& of) {
    // Without the notes about its content, which would be copied.
    block = {.bytes = of.bytes,
             .file_offset = of.file_offset,
             .expanded = of.expanded,
             .stream = of.stream,
             .trailing = {}};
    filled = 0;
    round_ends.clear();
    tally = {};
  }
  /// Where to build the next item; it counts once `filled` has been incremented. Building it in
  /// place saves a copy that would wait for the preceding stores.
  Item& next() {
    if (filled == items.size()) [[unlikely]]
      items.resize(std::max(kLeastItems, 2 * filled));
    return items[filled] = Item{};
  }

 private:
  static constexpr size_t kLeastItems = 1024;
};

/// The steps of feed_records.
template <typename Cutter>
class RecordFeed {
 public:
  using Item = typename Cutter::Item;
  using Load = FeedLoad<Item>;
  using Take = std::function<void(std::span<const Item>)>;

  RecordFeed(FileWalk& walk, LossLedger& losses, Cutter& cutter, SortedBy sorted_by,
             const Take& take)
      : walk_(walk),
        losses_(losses),
        cutter_(cutter),
        take_(take),
        sorted_by_(sorted_by),
        ids_(walk.events()),
        order_(walk.facts().order),
        sorter_([this](std::span<const Item> items) { give(items); }, losses) {
    walk_.share_work(kLoads * kUsualLoad + (sorted_by == SortedBy::kOwnStep ? kLookedAtAgain : 0));
  }

  FeedCounts run() {
    namespace tbb = oneapi::tbb;
    constexpr auto kInOrder = tbb::filter_mode::serial_in_order;
    constexpr auto kCutting = Cutter::kKeepsState ? kInOrder : tbb::filter_mode::parallel;
    auto sorting = tbb::make_filter<Load*, Load*>(kInOrder, [this](Load* load) {
      sort(*load);
      return load;
    });
    auto taking = tbb::make_filter<Load*, void>(kInOrder, [this](Load* load) { take(*load); });
    auto both = tbb::make_filter<Load*, void>(kInOrder, [this](Load* load) { sort(*load); });
    tbb::parallel_pipeline(
        kLoads, tbb::make_filter<void, Load*>(kInOrder, [this](tbb::flow_control& control) {
                  Load* load = walk_on();
                  if (load == nullptr) control.stop();
                  return load;
                }) & tbb::make_filter<Load*, Load*>(kCutting, [this](Load* load) {
                  cut(*load);
                  return load;
                }) & (sorted_by_ == SortedBy::kTaker ? both : sorting & taking));
    finish();
    return sum_.counts;
  }

 private:
  static constexpr size_t kLoads = 12;  // in flight: more than a round of records
  static constexpr size_t kUsualLoad = size_t{512} << 10;  // bytes, of a plain file
  // Items are taken two rounds after they were cut, and `take` may access their records. A page
  // dropped before that is faulted in again with all of its folio, which is megabytes if the file
  // was read ahead.
  static constexpr size_t kLookedAtAgain = size_t{16} << 20;

  /// A cutter may signal that nothing more is wanted.
  [[nodiscard]] bool is_over() const {
    if constexpr (requires { cutter_.is_over(); }) return cutter_.is_over();
    return false;
  }
  Load* walk_on() {
    if (blocks_.empty()) blocks_ = walk_.next();
    if (blocks_.empty() || is_over()) return nullptr;
    // Its previous occupant was taken, as loads are taken in order.
    Load& load = loads_[next_load_++ % kLoads];
    load.begin(blocks_.front());
    blocks_ = blocks_.subspan(1);
    return &load;
  }

  void cut(Load& load) {
    walk_.tend();
    RecordView record;
    for (RecordRange range(load.block, order_); range.next(record);) {
      ++load.tally.counts.records;
      if (record.type == abi::kRecordSample)
        cut_sample(record, load);
      else
        cut_other(record, load);
    }
  }
  void cut_sample(const RecordView& record, Load& load) {
    uint32_t id = ids_.of(record);
    if (id == EventId::kNone) {
      ++load.tally.unknown_ids;
      return;
    }
    switch (cutter_.cut(record, id, load.next())) {
      case Cut::kItem:
        ++load.filled;
        return;
      case Cut::kNothing:
        return;
      case Cut::kBad:
        ++load.tally.bad;
        return;
    }
  }
  void cut_other(const RecordView& record, Load& load) {
    if (record.type == abi::kRecordFinishedRound) {
      // The rounds of different files in a directory are unrelated.
      if (!walk_.facts().is_directory) load.round_ends.push_back(load.filled);
      return;
    }
    if (record.type >= abi::kRecordUserStart || walk_.events().size() == 0) return;
    EventId id = walk_.events().of(record);
    if (!id.valid()) id = EventId(size_t{0});
    const SampleLayout& layout = walk_.events()[id].layout;
    if (record.type == abi::kRecordLost) count_lost(record, layout, load.tally.counts);
    SampleId who = decode_trailing_id(record, layout);
    if (cutter_.cut_other({who.has_time() ? who.time : 0, id, record}, load.next())) ++load.filled;
  }
  static void count_lost(const RecordView& record, const SampleLayout& layout, FeedCounts& counts) {
    auto lost = decode_as<LostRecord>(record, layout);
    if (!lost) return;
    counts.lost += lost->lost;
    ++counts.lost_chunks;
  }

  void sort(Load& load) {
    sum_.add(load.tally);
    being_sorted_ = &load;
    std::span<const Item> items = std::span(load.items).first(load.filled);
    size_t done = 0;
    for (size_t end : load.round_ends) {
      sorter_.push(items.subspan(done, end - done));
      sorter_.finish_round();
      done = end;
    }
    sorter_.push(items.subspan(done));
  }
  void give(std::span<const Item> items) {
    if (sorted_by_ == SortedBy::kTaker) return take_(items);
    std::vector<Item>& sorted = being_sorted_->sorted;
    if (sorted.capacity() == 0) sorted = spare();
    sorted.insert(sorted.end(), items.begin(), items.end());
  }
  void take(Load& load) {
    if (load.sorted.empty()) return;
    take_(load.sorted);
    load.sorted.clear();
    std::lock_guard lock(spares_mutex_);
    spares_.push_back(std::move(load.sorted));
  }
  /// Whole rounds are sorted at once, so few loads have anything to take, but those have much.
  std::vector<Item> spare() {
    std::lock_guard lock(spares_mutex_);
    if (spares_.empty()) return {};
    std::vector<Item> last = std::move(spares_.back());
    spares_.pop_back();
    return last;
  }
  void finish() {
    Load& rest = loads_[0];
    rest.begin({});
    sort(rest);
    sorter_.flush();
    take(rest);
    losses_.add(LossKind::k_lost_by_kernel, sum_.counts.lost);
    losses_.add(LossKind::k_unknown_event_id, sum_.unknown_ids);
    losses_.add(LossKind::k_bad_record, sum_.bad);
  }

  FileWalk& walk_;
  LossLedger& losses_;
  Cutter& cutter_;
  const Take& take_;
  SortedBy sorted_by_;
  EventIds ids_;
  ByteOrder order_;
  std::span<const RecordBlock> blocks_;  // walked over and not yet in flight
  std::array<Load, kLoads> loads_;
  size_t next_load_ = 0;
  RoundSorterOf<Item> sorter_;
  Load* being_sorted_ = nullptr;
  std::mutex spares_mutex_;
  std::vector<std::vector<Item>> spares_;  // buffers for sorted items
  FeedTally sum_;
};

/// Reads everything, once; `walk` must be at its start. `take` is called by one thread at a time,
/// but not always the same one.
template <typename Cutter>
FeedCounts feed_records(FileWalk& walk, LossLedger& losses, Cutter& cutter, SortedBy sorted_by,
                        const std::function<void(std::span<const typename Cutter::Item>)>& take) {
  return RecordFeed<Cutter>(walk, losses, cutter, sorted_by, take).run();
}

}  // namespace sonde
