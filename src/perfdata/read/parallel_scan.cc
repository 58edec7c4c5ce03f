#include "perfdata/read/parallel_scan.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "base/parallel.h"

namespace sonde {
namespace {

constexpr size_t kWindow = size_t{128} << 10;
constexpr size_t kRecordHeader = sizeof(abi::RecordHeader);
constexpr size_t kSegment = size_t{4} << 20;

/// Whether a chain of records seems to begin at `at`: so many in a row do not occur by chance.
bool looks_like_records(Bytes bytes, size_t at, const EventTable& events, ByteOrder order) {
  constexpr size_t kInARow = 16;
  for (size_t i = 0; i < kInARow; ++i) {
    if (bytes.size() - at < kRecordHeader) return false;
    RecordView record;
    record.type = load<uint32_t>(bytes.data() + at, order);
    auto size = load<uint16_t>(bytes.data() + at + 6, order);
    if (record.type >= abi::kRecordUserStart || abi::record_type_name(record.type).empty() ||
        size < kRecordHeader || size % 8 != 0 || size > bytes.size() - at)
      return false;
    record.payload = bytes.subspan(at + kRecordHeader, size - kRecordHeader);
    record.order = order;
    if (record.type == abi::kRecordSample && !events.of(record).valid()) return false;
    at += size;
  }
  return true;
}

class ParallelScan {
 public:
  ParallelScan(const ScannedFile& file, ByteOrder order, const EventTable& events,
               SetupCollector& setup, StreamExpander& expander, SampleObserver* observer,
               LossLedger& losses)
      : fd_(file.fd),
        offset_(file.data.begin),
        records_(file.mapped.subspan(file.data.begin, file.data.size)),
        order_(order),
        events_(events),
        setup_(setup),
        expander_(expander),
        observer_(observer),
        losses_(losses) {}

  ParallelScanResult run() {
    std::vector<Part> segments = find_segments();
    // There may be a gap that belongs to no segment before each segment, and one after the last.
    if (observer_ != nullptr) observer_->set_parts(2 * segments.size() + 1);
    std::atomic<size_t> next = 0;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    parallel_jobs(std::min(threads, segments.size()), [&](size_t) {
      Window window = make_window();
      for (size_t i = next++; i < segments.size(); i = next++) {
        if (observer_ == nullptr) map_pages(segments[i]);
        if (i == 0)
          scan(segments[i], window);
        else
          walk_plain(segments[i], window);
      }
    });
    ParallelScanResult result;
    size_t position = 0;
    bool is_over = false;
    for (size_t i = 0; i < segments.size(); ++i) {
      is_over = is_over || !walk_up_to(segments[i].start, 2 * i, position, result);
      if (is_over || position != segments[i].start) {
        if (observer_ != nullptr) observer_->drop(2 * i + 1);
        continue;
      }
      position = segments[i].position;
      is_over = segments[i].is_over;
      add_to(result, std::move(segments[i]));
    }
    if (!is_over) walk_up_to(records_.size(), 2 * segments.size(), position, result);
    return result;
  }

 private:
  using Window = std::unique_ptr<std::byte[]>;  // null without an observer: read in place

  [[nodiscard]] Window make_window() const {
    return observer_ == nullptr ? nullptr : std::make_unique_for_overwrite<std::byte[]>(kWindow);
  }

  /// A part of the records, scanned by one thread.
  struct Part {
    BlockSplitter splitter;
    size_t number;  // of the observer's part
    size_t start, position, end;
    std::vector<RecordBlock> blocks = {};
    BlockSplitter::Stop stop = BlockSplitter::Stop::kEnd;
    bool is_over = false;  // no record can be read at the position, before the part's end
  };

  [[nodiscard]] Part part(size_t number, size_t start, size_t end) const {
    return {BlockSplitter(order_, setup_, losses_), number, start, start, end};
  }

  [[nodiscard]] std::vector<Part> find_segments() const {
    constexpr size_t kAlignment = 8;
    std::vector<size_t> starts = {0};
    for (size_t from = kSegment; from + kSegment <= records_.size(); from += kSegment)
      for (size_t at = from; at < from + kWindow; at += kAlignment)
        if (looks_like_records(records_, at, events_, order_)) {
          starts.push_back(at);
          break;
        }
    std::vector<Part> segments;
    for (size_t i = 0; i < starts.size(); ++i)
      segments.push_back(
          part(2 * i + 1, starts[i], i + 1 < starts.size() ? starts[i + 1] : records_.size()));
    return segments;
  }

  /// Walks what no segment covers. Returns false if no further record can be read.
  bool walk_up_to(size_t end, size_t number, size_t& position, ParallelScanResult& result) {
    if (position >= end) return true;
    Part between = part(number, position, end);
    scan(between, make_window());
    position = between.position;
    bool is_over = between.is_over;
    add_to(result, std::move(between));
    return !is_over;
  }

  /// Walks as long as there are records that do not extend past the part's end.
  void scan(Part& part, const Window& window) {
    if (observer_ == nullptr) {
      part.stop = split(part, rest_of(part), false).stop;
      return;
    }
    do walk_plain(part, window);
    while (part.stop == BlockSplitter::Stop::kNotPlain && walk_mapped(part));
  }

  /// Stops at a record that is not plain or that is larger than the window.
  void walk_plain(Part& part, const Window& window) {
    if (observer_ == nullptr) {
      part.stop = split(part, rest_of(part), true).stop;
      return;
    }
    part.stop = BlockSplitter::Stop::kEnd;
    while (part.position < part.end) {
      size_t size = std::min(kWindow, part.end - part.position);
      bool is_last = part.position + size == part.end;
      size_t first_block = part.blocks.size();
      BlockSplitter::Outcome outcome = split(part, read_window(part, window, size), true);
      for (RecordBlock& block : std::span(part.blocks).subspan(first_block))
        block.bytes = records_.subspan(block.file_offset - offset_, block.bytes.size());
      bool is_stuck = outcome.consumed == 0;
      if (outcome.stop == BlockSplitter::Stop::kNotPlain || is_stuck) {
        part.stop = is_last ? outcome.stop : BlockSplitter::Stop::kNotPlain;
        return;
      }
    }
  }

  /// Walks the next records, of any kind, in place. Returns false if there is none.
  bool walk_mapped(Part& part) {
    for (size_t step = kWindow;; step *= 2) {
      size_t size = std::min(step, part.end - part.position);
      bool is_last = part.position + size == part.end;
      BlockSplitter::Outcome outcome = split(part, records_.subspan(part.position, size), false);
      if (outcome.consumed > 0) return true;
      part.stop = outcome.stop;
      part.is_over = !is_last && outcome.stop == BlockSplitter::Stop::kNotARecord;
      if (is_last || part.is_over) return false;
    }
  }

  BlockSplitter::Outcome split(Part& part, Bytes bytes, bool only_plain) {
    CutOptions options{.observer_part = part.number,
                       .only_plain = only_plain,
                       .in_cache = only_plain && observer_ != nullptr};
    if (observer_ != nullptr && observer_->wants_more(part.number)) options.observer = observer_;
    BlockSplitter::Outcome outcome =
        part.splitter.split(bytes, offset_ + part.position, 0, expander_, part.blocks, options);
    part.position += outcome.consumed;
    return outcome;
  }

  [[nodiscard]] Bytes rest_of(const Part& part) const {
    return records_.subspan(part.position, part.end - part.position);
  }
  /// A walk over headers mostly waits for page faults, which this saves. Nothing depends on it:
  /// kernels before 5.14 do not know the advice.
  void map_pages(const Part& part) const {
    constexpr uintptr_t kPageSize = 4096;
    Bytes bytes = rest_of(part);
    if (bytes.size() > 2 * kSegment) return;  // no chain of records was found in it
    auto start = reinterpret_cast<uintptr_t>(bytes.data()) / kPageSize * kPageSize;
    auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
    ::madvise(reinterpret_cast<void*>(start), end - start, MADV_POPULATE_READ);
  }

  /// Returns the mapped bytes themselves if reading fails.
  [[nodiscard]] Bytes read_window(const Part& part, const Window& window, size_t size) const {
    ssize_t got = ::pread(fd_, window.get(), size, static_cast<off_t>(offset_ + part.position));
    if (got < 0 || static_cast<size_t>(got) != size) return records_.subspan(part.position, size);
    return {window.get(), size};
  }

  static void add_to(ParallelScanResult& result, Part part) {
    result.blocks.insert(result.blocks.end(), std::make_move_iterator(part.blocks.begin()),
                         std::make_move_iterator(part.blocks.end()));
    result.counts.add(part.splitter.counts());
    result.outcome = {part.position, part.stop};
  }

  int fd_;
  uint64_t offset_;  // of the records in the file
  Bytes records_;
  ByteOrder order_;
  const EventTable& events_;
  SetupCollector& setup_;
  StreamExpander& expander_;
  SampleObserver* observer_;
  LossLedger& losses_;
};

}  // namespace

ParallelScanResult scan_in_parallel(const ScannedFile& file, ByteOrder order,
                                    const EventTable& events, SetupCollector& setup,
                                    StreamExpander& expander, SampleObserver* observer,
                                    LossLedger& losses) {
  return ParallelScan(file, order, events, setup, expander, observer, losses).run();
}

}  // namespace sonde
