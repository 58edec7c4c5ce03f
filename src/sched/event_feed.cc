#include "sched/event_feed.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "perfdata/round_sorter.h"
#include "perfdata/sideband.h"

namespace sonde {
namespace {

using Batch = std::vector<SchedEvent>;

constexpr size_t kBatchEvents = 4096;
constexpr size_t kBatchesAhead = 8;

/// Batches on their way from the reader to who takes them; emptied ones go back to be filled again.
class BatchQueue {
 public:
  /// An empty batch; waits while too many are under way.
  Batch get_empty() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return under_way_ < kBatchesAhead; });
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
  std::mutex mutex_;
  std::condition_variable room_, arrived_;
  std::vector<Batch> empty_, full_;
  size_t under_way_ = 0;
  bool closed_ = false;
};

/// The event of a sample by its id. Ids are given one after the other when events are opened, so a
/// table by their distance from the first does for a hash map.
class IdIndex {
 public:
  explicit IdIndex(const EventTable& events) : events_(events) {
    std::optional<uint32_t> place;
    uint64_t highest = 0;
    for (const EventDesc& event : events.all()) {
      auto own = event.layout.id_in_sample();
      if (!own || (place && *place != *own)) return;
      place = own;
      for (uint64_t id : event.ids) {
        lowest_ = std::min(lowest_, id);
        highest = std::max(highest, id);
      }
    }
    constexpr uint64_t kWidest = 1 << 20;
    if (!place || lowest_ > highest || highest - lowest_ >= kWidest) return;
    place_ = *place;
    by_distance_.assign(highest - lowest_ + 1, kUnknown);
    for (size_t i = 0; i < events.size(); ++i)
      for (uint64_t id : events[EventId(i)].ids)
        by_distance_[id - lowest_] = static_cast<uint16_t>(i);
  }

  [[nodiscard]] uint32_t of(const RecordView& record) const {
    if (!by_distance_.empty() && record.payload.size() >= place_ + sizeof(uint64_t)) {
      uint64_t distance = load<uint64_t>(record.payload.data() + place_, record.order) - lowest_;
      if (distance < by_distance_.size() && by_distance_[distance] != kUnknown)
        return by_distance_[distance];
    }
    return events_.of(record).value;
  }

 private:
  static constexpr uint16_t kUnknown = UINT16_MAX;
  const EventTable& events_;
  uint64_t lowest_ = UINT64_MAX;
  uint32_t place_ = 0;
  std::vector<uint16_t> by_distance_;
};

bool tells_of_tasks(uint32_t type) {
  return type == abi::kRecordComm || type == abi::kRecordFork || type == abi::kRecordExit ||
         type == abi::kRecordLost;
}

// --- events that were not sorted, with marks between the rounds

SchedEvent end_of_round() {
  return {};
}
bool is_end_of_round(const SchedEvent& event) {
  return event.kind == SchedKind::kOther;
}

void sort_into(RoundSorterOf<SchedEvent>& sorter, const Batch& batch) {
  for (const SchedEvent& event : batch)
    if (is_end_of_round(event))
      sorter.finish_round();
    else
      sorter.push(event);
}

}  // namespace

/// The thread that reads.
class SchedFeed::Reader {
 public:
  Reader(SchedFeed& feed, BatchQueue& queue)
      : feed_(feed),
        queue_(queue),
        ids_(feed.walk_.events()),
        order_(feed.walk_.facts().order),
        sorter_([this](std::span<const SchedEvent> events) { give(events); }, feed.losses_) {
    batch_ = queue_.get_empty();
  }

  void read_all() {
    for (auto blocks = feed_.walk_.next(); !blocks.empty(); blocks = feed_.walk_.next())
      for (const RecordBlock& block : blocks) read(block);
    if (!feed_.sorts_where_taken_) sorter_.flush();
    hand_over();
    queue_.put_empty(std::move(batch_));
    FeedCounts& counts = feed_.counts_;
    feed_.losses_.add(LossKind::k_lost_by_kernel, counts.lost);
    feed_.losses_.add(LossKind::k_unknown_event_id, unknown_ids_);
    feed_.losses_.add(LossKind::k_bad_record, bad_);
    queue_.close();
  }

 private:
  void read(const RecordBlock& block) {
    RecordView record;
    for (RecordRange range(block, order_); range.next(record);) {
      ++feed_.counts_.records;
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
    const EventPlaces& places = feed_.places_[id];
    if (places.kind == SchedKind::kOther || !holds(feed_.wanted_, places.kind)) {
      note_cpu(record, places);
      return;
    }
    SchedEvent event;
    if (!places.read(record, feed_.walk_.events()[EventId(size_t{id})].layout, event) ||
        event.cpu >= kMaxCpus) {
      ++bad_;
      return;
    }
    event.record = record.raw().data();
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    feed_.counts_.highest_cpu = std::max(feed_.counts_.highest_cpu, event.cpu);
    pass_on(event);
  }
  void note_cpu(const RecordView& record, const EventPlaces& places) {
    if (places.cpu == EventPlaces::kNowhere || record.payload.size() < places.cpu + 4u) return;
    auto cpu = load<uint32_t>(record.payload.data() + places.cpu, order_);
    if (cpu < kMaxCpus) feed_.counts_.highest_cpu = std::max(feed_.counts_.highest_cpu, cpu);
  }
  void take_other(const RecordView& record) {
    if (record.type == abi::kRecordFinishedRound) {
      // Rounds of the files of a directory have nothing to do with each other.
      if (feed_.walk_.facts().is_directory) return;
      if (feed_.sorts_where_taken_)
        put(end_of_round());
      else
        sorter_.finish_round();
      return;
    }
    if (!tells_of_tasks(record.type)) return;
    EventId id = feed_.walk_.events().of(record);
    if (!id.valid()) id = EventId(size_t{0});
    const SampleLayout& layout = feed_.walk_.events()[id].layout;
    if (record.type == abi::kRecordLost) count_lost(record, layout);
    if (!holds(feed_.wanted_, SchedKind::kRecord)) return;
    SampleId who = decode_trailing_id(record, layout);
    pass_on({.time = who.has_time() ? who.time : 0,
             .record = record.raw().data(),
             .pid = who.pid,
             .tid = who.tid,
             .cpu = who.has_cpu() ? who.cpu : 0,
             .event = static_cast<uint16_t>(id.value),
             .kind = SchedKind::kRecord});
  }
  void count_lost(const RecordView& record, const SampleLayout& layout) {
    auto lost = decode_as<LostRecord>(record, layout);
    if (!lost) return;
    feed_.counts_.lost += lost->lost;
    ++feed_.counts_.lost_chunks;
  }
  void pass_on(const SchedEvent& event) {
    if (feed_.sorts_where_taken_)
      put(event);
    else
      sorter_.push(event);
  }
  void put(const SchedEvent& event) {
    // Within what was reserved: push_back would look for room each time.
    if (filled_ == 0) batch_.resize(kBatchEvents);
    batch_[filled_] = event;
    if (++filled_ == kBatchEvents) [[unlikely]]
      hand_over();
  }
  void give(std::span<const SchedEvent> events) {
    batch_.insert(batch_.end(), events.begin(), events.end());
    if (batch_.size() >= kBatchEvents) hand_over();
  }
  [[gnu::noinline]] void hand_over() {
    if (feed_.sorts_where_taken_) batch_.resize(std::exchange(filled_, 0));
    queue_.put_full(std::move(batch_));
    batch_ = queue_.get_empty();
  }

  SchedFeed& feed_;
  BatchQueue& queue_;
  IdIndex ids_;
  ByteOrder order_;
  RoundSorterOf<SchedEvent> sorter_;
  Batch batch_;
  size_t filled_ = 0;  // of batch_, where it is filled one by one
  uint64_t unknown_ids_ = 0, bad_ = 0;
};

SchedFeed::SchedFeed(FileWalk& walk, LossLedger& losses)
    : walk_(walk), losses_(losses), places_(places_of(walk.events(), walk.features())) {}

bool SchedFeed::has(SchedKind kind) const {
  return std::ranges::find(places_, kind, &EventPlaces::kind) != places_.end();
}

void SchedFeed::run(const Take& take) {
  BatchQueue queue;
  Reader reader(*this, queue);
  std::jthread thread([&reader] { reader.read_all(); });
  RoundSorterOf<SchedEvent> sorter(take, losses_);
  while (std::optional<Batch> batch = queue.get_full()) {
    if (sorts_where_taken_)
      sort_into(sorter, *batch);
    else
      take(*batch);
    queue.put_empty(std::move(*batch));
  }
  sorter.flush();
}

}  // namespace sonde
