// Extracts what an analysis needs from each record of a recording, in time order, in bounded
// memory.
//
// A Decoder makes an Item of each record that matters, items are sorted by rounds
// (perfdata/read/ordering.h), and `consume` receives them, some thousands at a time. So an analysis
// rarely touches a record, and only two rounds of items are held in memory.
//
// The file is processed in batches of half a megabyte, each of which is scanned, decoded, sorted
// and consumed. Batches are decoded in parallel; the other steps see them one by one in file order.
// Where possible, the thread that scanned a batch continues with it, so that it stays in that
// core's cache.
//
//   struct MyDecoder {
//     using Item = …;  // with `time`, and `record`, its header
//     // False: both functions are called by several threads at a time.
//     // True: batches are decoded one by one, in file order.
//     static constexpr bool kKeepsState = false;
//     Decoded decode(const RecordView& sample, uint32_t event, Item& item);
//     // COMM, MMAP, LOST …: the kernel's only.
//     bool decode_other(const OtherRecord& record, Item& item);
//   };
//   PipelineCounts counts = process_records(scan, losses, decoder, SortedBy::kConsumer, consume);
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "base/loss.h"
#include "perfdata/read/file_scan.h"
#include "perfdata/read/lost_tally.h"
#include "perfdata/read/round_sorter.h"
#include "perfdata/records/damage.h"
#include "perfdata/records/sideband.h"
#include "replay/fields/event_ids.h"
#include "replay/passes/sideband_pass.h"

namespace sonde {

enum class Decoded : uint8_t {
  kItem,
  kNothing,  // the sample does not matter
  kBad,      // it is damaged
};

/// Whether items are sorted in parallel with `consume` working on others, which costs a copy of
/// each, or by the same thread right before: better if `consume` is less than half of the work.
enum class SortedBy : uint8_t { kOwnStep, kConsumer };

struct PipelineCounts {
  uint64_t records = 0;      // of every type
  uint64_t lost = 0;         // events that the kernel reports as lost
  uint64_t lost_chunks = 0;  // records that report them
};

/// The sums over all batches.
struct PipelineTally {
  PipelineCounts counts;
  LostTally losses;
  uint64_t unknown_ids = 0;
  uint64_t bad = 0, bad_bytes = 0;  // damaged samples
  uint64_t first_bad = UINT64_MAX;  // file offset

  void add(const PipelineTally& other) {
    counts.records += other.counts.records;
    counts.lost += other.counts.lost;
    counts.lost_chunks += other.counts.lost_chunks;
    losses.add(other.losses);
    unknown_ids += other.unknown_ids;
    bad += other.bad;
    bad_bytes += other.bad_bytes;
    first_bad = std::min(first_bad, other.first_bad);
  }
};

/// A batch of the file on its way through the steps.
template <typename Item>
struct RecordBatch {
  RecordBlock block;
  std::vector<Item> items;  // the first `filled` are valid; the rest is left from earlier batches
  size_t filled = 0;
  std::vector<size_t> round_ends;  // positions among them
  std::vector<Item> sorted;        // ready to be consumed, if sorting is a step of its own
  PipelineTally tally;

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
      items.resize(std::max(kMinItems, 2 * filled));
    return items[filled] = Item{};
  }

 private:
  static constexpr size_t kMinItems = 1024;
};

/// The steps of process_records.
template <typename Decoder>
class RecordPipeline {
 public:
  using Item = typename Decoder::Item;
  using Batch = RecordBatch<Item>;
  using Consume = std::function<void(std::span<const Item>)>;

  RecordPipeline(FileScan& scan, LossLedger& losses, Decoder& decoder, SortedBy sorted_by,
                 const Consume& consume)
      : scan_(scan),
        losses_(losses),
        decoder_(decoder),
        consume_(consume),
        sorted_by_(sorted_by),
        ids_(scan.events()),
        order_(scan.facts().order),
        sorter_([this](std::span<const Item> items) { give(items); },
                [this](const Item& item) { return scan_.file_offset_of(item.record); }, losses) {
    scan_.share_work(kBatches * kUsualBatchBytes +
                     (sorted_by == SortedBy::kOwnStep ? kLookedAtAgain : 0));
  }

  PipelineCounts run() {
    namespace tbb = oneapi::tbb;
    constexpr auto kInOrder = tbb::filter_mode::serial_in_order;
    constexpr auto kDecoding = Decoder::kKeepsState ? kInOrder : tbb::filter_mode::parallel;
    auto sorting = tbb::make_filter<Batch*, Batch*>(kInOrder, [this](Batch* batch) {
      sort(*batch);
      return batch;
    });
    auto consuming =
        tbb::make_filter<Batch*, void>(kInOrder, [this](Batch* batch) { consume(*batch); });
    auto both = tbb::make_filter<Batch*, void>(kInOrder, [this](Batch* batch) { sort(*batch); });
    tbb::parallel_pipeline(
        kBatches, tbb::make_filter<void, Batch*>(kInOrder, [this](tbb::flow_control& control) {
                    Batch* batch = next_batch();
                    if (batch == nullptr) control.stop();
                    return batch;
                  }) & tbb::make_filter<Batch*, Batch*>(kDecoding, [this](Batch* batch) {
                    decode(*batch);
                    return batch;
                  }) & (sorted_by_ == SortedBy::kConsumer ? both : sorting & consuming));
    finish();
    return sum_.counts;
  }

 private:
  static constexpr size_t kBatches = 12;  // in flight: more than a round of records
  static constexpr size_t kUsualBatchBytes = size_t{512} << 10;  // bytes, of a plain file
  // Items are consumed two rounds after they were decoded, and `consume` may access their records.
  // A page dropped before that is faulted in again with all of its folio, which is megabytes if the
  // file was read ahead.
  static constexpr size_t kLookedAtAgain = size_t{16} << 20;

  /// A decoder may signal that nothing more is wanted.
  [[nodiscard]] bool is_over() const {
    if constexpr (requires { decoder_.is_over(); }) return decoder_.is_over();
    return false;
  }
  Batch* next_batch() {
    if (blocks_.empty()) blocks_ = scan_.next();
    if (blocks_.empty() || is_over()) return nullptr;
    // Its previous occupant was consumed, as batches are consumed in order.
    Batch& batch = loads_[next_load_++ % kBatches];
    batch.begin(blocks_.front());
    blocks_ = blocks_.subspan(1);
    return &batch;
  }

  void decode(Batch& batch) {
    scan_.tend();
    RecordView record;
    for (RecordRange range(batch.block, order_); range.next(record);) {
      ++batch.tally.counts.records;
      if (record.type == abi::kRecordSample)
        cut_sample(record, batch);
      else
        decode_other(record, batch);
    }
  }
  void cut_sample(const RecordView& record, Batch& batch) {
    uint32_t id = ids_.of(record);
    if (id == EventId::kNone) {
      ++batch.tally.unknown_ids;
      return;
    }
    switch (decoder_.decode(record, id, batch.next())) {
      case Decoded::kItem:
        ++batch.filled;
        return;
      case Decoded::kNothing:
        return;
      case Decoded::kBad:
        ++batch.tally.bad;
        batch.tally.bad_bytes += record.size();
        batch.tally.first_bad = std::min(batch.tally.first_bad, record.file_offset);
        return;
    }
  }
  void decode_other(const RecordView& record, Batch& batch) {
    if (record.type == abi::kRecordFinishedRound) {
      // The rounds of different files in a directory are unrelated.
      if (!scan_.facts().is_directory) batch.round_ends.push_back(batch.filled);
      return;
    }
    if (record.type >= abi::kRecordUserStart || scan_.events().size() == 0) return;
    EventId id = scan_.events().of(record);
    if (!id.valid()) id = EventId(size_t{0});
    const SampleLayout& layout = scan_.events()[id].layout;
    if (record.type == abi::kRecordLost) count_lost(record, layout, batch.tally.counts);
    batch.tally.losses.add(record, id, scan_.events());
    SampleId who = decode_trailing_id(record, layout);
    if (decoder_.decode_other({who.has_time() ? who.time : 0, id, record}, batch.next()))
      ++batch.filled;
  }
  static void count_lost(const RecordView& record, const SampleLayout& layout,
                         PipelineCounts& counts) {
    auto lost = decode_as<LostRecord>(record, layout);
    if (!lost) return;
    counts.lost += lost->lost;
    ++counts.lost_chunks;
  }

  void sort(Batch& batch) {
    sum_.add(batch.tally);
    being_sorted_ = &batch;
    std::span<const Item> items = std::span(batch.items).first(batch.filled);
    size_t done = 0;
    for (size_t end : batch.round_ends) {
      sorter_.push(items.subspan(done, end - done));
      sorter_.finish_round();
      done = end;
    }
    sorter_.push(items.subspan(done));
  }
  void give(std::span<const Item> items) {
    if (sorted_by_ == SortedBy::kConsumer) return consume_(items);
    std::vector<Item>& sorted = being_sorted_->sorted;
    if (sorted.capacity() == 0) sorted = spare();
    sorted.insert(sorted.end(), items.begin(), items.end());
  }
  void consume(Batch& batch) {
    if (batch.sorted.empty()) return;
    consume_(batch.sorted);
    batch.sorted.clear();
    std::lock_guard lock(spares_mutex_);
    spares_.push_back(std::move(batch.sorted));
  }
  /// Whole rounds are sorted at once, so few batches have anything to consume, but those have much.
  std::vector<Item> spare() {
    std::lock_guard lock(spares_mutex_);
    if (spares_.empty()) return {};
    std::vector<Item> last = std::move(spares_.back());
    spares_.pop_back();
    return last;
  }
  void finish() {
    Batch& rest = loads_[0];
    rest.begin({});
    sort(rest);
    sorter_.flush();
    consume(rest);
    count_losses(sum_.losses.counts(scan_.events()), losses_);
    losses_.add(LossKind::k_unknown_event_id, sum_.unknown_ids);
    if (sum_.bad == 0) return;
    losses_.add(LossKind::k_bad_record, sum_.bad,
                damage_text(abi::kRecordSample, sum_.first_bad, kShortSample));
    losses_.add_bytes({.damaged = sum_.bad_bytes});
  }

  FileScan& scan_;
  LossLedger& losses_;
  Decoder& decoder_;
  const Consume& consume_;
  SortedBy sorted_by_;
  EventIds ids_;
  ByteOrder order_;
  std::span<const RecordBlock> blocks_;  // scanned and not yet in flight
  std::array<Batch, kBatches> loads_;
  size_t next_load_ = 0;
  RoundSorterOf<Item> sorter_;
  Batch* being_sorted_ = nullptr;
  std::mutex spares_mutex_;
  std::vector<std::vector<Item>> spares_;  // buffers for sorted items
  PipelineTally sum_;
};

/// Reads everything, once; `scan` must be at its start. `consume` is called by one thread at a
/// time, but not always the same one.
template <typename Decoder>
PipelineCounts process_records(
    FileScan& scan, LossLedger& losses, Decoder& decoder, SortedBy sorted_by,
    const std::function<void(std::span<const typename Decoder::Item>)>& consume) {
  return RecordPipeline<Decoder>(scan, losses, decoder, sorted_by, consume).run();
}

}  // namespace sonde
