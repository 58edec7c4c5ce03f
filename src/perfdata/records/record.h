// A record as it is in the file or ring, with the header decoded and the payload untouched; and
// blocks of whole records.
//
//   for (RecordView record : RecordRange(block, order)) { ... }
//
// Records are views into memory that a Recording (or a ring) owns. A range stops at the first
// header that cannot belong to a record (size < 8, or past the end) and reports its position, so
// that the caller can count the loss.
#pragma once

#include <optional>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"

namespace sonde {

struct RecordView {
  uint32_t type = 0;
  uint16_t misc = 0;
  Bytes payload;             // what follows the eight-byte header
  uint64_t file_offset = 0;  // of the header; for expanded records, of the compressed one
  ByteOrder order = kHostOrder;

  [[nodiscard]] uint16_t cpu_mode() const { return misc & abi::kMiscCpuModeMask; }
  [[nodiscard]] size_t size() const { return payload.size() + sizeof(abi::RecordHeader); }
  /// Header and payload as stored.
  [[nodiscard]] Bytes raw() const { return {payload.data() - sizeof(abi::RecordHeader), size()}; }
};

/// What the code that cut a block learnt on the way, so that later passes need not scan all
/// headers.
struct BlockContent {
  struct Place {
    uint32_t offset;  // of the record, from the start of the block
    uint32_t rank;    // number of records before it in the block
    // The header's fields, so that passes that need nothing else do not touch the record again.
    uint32_t type;
    uint16_t misc;
    uint32_t size;
  };
  uint32_t records = 0;
  std::vector<Place> others = {};  // all but the samples, in order
  [[nodiscard]] uint32_t samples() const { return records - static_cast<uint32_t>(others.size()); }

  void count(uint32_t type, uint16_t misc, uint32_t size, size_t offset) {
    if (type != abi::kRecordSample)
      others.push_back({static_cast<uint32_t>(offset), records, type, misc, size});
    ++records;
  }
};

/// Whole records, contiguous in memory, in the order of the file.
struct RecordBlock {
  Bytes bytes;
  uint64_t file_offset = 0;
  bool expanded = false;          // from a COMPRESSED record
  uint64_t types = ~uint64_t{0};  // bit min(type, 63) is set if the block may contain that type
  uint32_t stream = 0;            // 0: the main file; n + 1: data.n of a directory
  /// Data that belongs to the block's last record but follows it (AUXTRACE: the AUX data).
  Bytes trailing;
  std::optional<BlockContent> content = std::nullopt;  // not known
  bool samples_taken = false;                          // a SampleObserver has seen them

  /// Whether the block may contain records of that type; lets a sideband pass skip other blocks.
  [[nodiscard]] bool may_hold(uint32_t type) const {
    return ((types >> (type < 63 ? type : 63)) & 1) != 0;
  }
};

/// Whether the type is private to simpleperf.
[[nodiscard]] inline bool is_simpleperf_private(uint32_t type) {
  constexpr uint32_t kRoom = 1024;
  return type - abi::kRecordSimpleperfStart < kRoom;
}

/// Whether the record contains other records, compressed.
[[nodiscard]] inline bool is_compressed_record(uint32_t type) {
  return type == abi::kRecordCompressed || type == abi::kRecordCompressed2;
}

/// The size stated by a header. simpleperf's private records may exceed 64 KiB: the upper half of
/// their size is where other records have `misc`.
[[nodiscard]] inline uint32_t stated_record_size(uint32_t type, uint16_t misc, uint16_t size) {
  if (!is_simpleperf_private(type)) [[likely]]
    return size;
  return (uint32_t{misc} << 16) | size;
}

/// Prefetches memory a few records after `at`. A scan over headers stalls on memory at each of
/// them, since each one determines the position of the next; this makes it four times faster.
inline void prefetch_records(const std::byte* at) {
  constexpr uintptr_t kAhead = 512, kLine = 64, kLines = 4;
  auto ahead = reinterpret_cast<uintptr_t>(at) + kAhead;  // may be past the end: it is only a hint
  for (uintptr_t line = 0; line < kLines; ++line)
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + line * kLine));
}

/// The record at `place`, as noted when the block was cut.
[[nodiscard]] inline RecordView record_at(const RecordBlock& block,
                                          const BlockContent::Place& place, ByteOrder order) {
  constexpr size_t kHeader = sizeof(abi::RecordHeader);
  return {place.type, place.misc, block.bytes.subspan(place.offset + kHeader, place.size - kHeader),
          block.expanded ? block.file_offset : block.file_offset + place.offset, order};
}

/// Iterates over the records of a block, from the first one or from the one at `from`. After the
/// loop `stopped_at()` is the block's size, or the position where the bytes cease to be records.
class RecordRange {
 public:
  RecordRange(const RecordBlock& block, ByteOrder order, size_t from = 0)
      : bytes_(block.bytes),
        file_offset_(block.file_offset),
        position_(from),
        expanded_(block.expanded),
        order_(order) {}

  /// Returns false at the end, or if no further record can be read.
  bool next(RecordView& record) {
    size_t left = bytes_.size() - position_;
    if (left < sizeof(abi::RecordHeader)) return false;
    const std::byte* at = bytes_.data() + position_;
    prefetch_records(at);
    record.type = load<uint32_t>(at, order_);
    record.misc = load<uint16_t>(at + 4, order_);
    uint32_t size = stated_record_size(record.type, record.misc, load<uint16_t>(at + 6, order_));
    if (size < sizeof(abi::RecordHeader) || size > left) return false;
    record.payload = {at + sizeof(abi::RecordHeader), size - sizeof(abi::RecordHeader)};
    record.file_offset = expanded_ ? file_offset_ : file_offset_ + position_;
    record.order = order_;
    position_ += size;
    return true;
  }
  [[nodiscard]] size_t stopped_at() const { return position_; }

 private:
  Bytes bytes_;
  uint64_t file_offset_;
  size_t position_;
  bool expanded_;
  ByteOrder order_;
};

/// The record at `offset` of a block, which must be a record boundary that a scan has seen.
[[nodiscard]] inline RecordView record_at(const RecordBlock& block, size_t offset,
                                          ByteOrder order) {
  RecordView record;
  RecordRange(block, order, offset).next(record);
  return record;
}

}  // namespace sonde
