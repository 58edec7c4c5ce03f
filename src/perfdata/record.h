// A record as it lies in the file or ring: header decoded, payload untouched; and blocks of whole
// records.
//
//   for (RecordView record : RecordRange(block, order)) { ... }
//
// Records are views into memory that a Recording (or a ring) owns. A range stops at the first
// header that cannot be a record (size < 8, or past the end) and tells where, so that the caller
// can count the loss.
#pragma once

#include <optional>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"

namespace sonde {

struct RecordView {
  uint32_t type = 0;
  uint16_t misc = 0;
  Bytes payload;             // what follows the eight bytes of the header
  uint64_t file_offset = 0;  // of the header; of the containing compressed record for expanded ones
  ByteOrder order = kHostOrder;

  [[nodiscard]] uint16_t cpu_mode() const { return misc & abi::kMiscCpuModeMask; }
  [[nodiscard]] size_t size() const { return payload.size() + sizeof(abi::RecordHeader); }
  /// Header and payload as they are stored.
  [[nodiscard]] Bytes raw() const { return {payload.data() - sizeof(abi::RecordHeader), size()}; }
};

/// What whoever cut a block saw on the way, so that later passes need not walk all headers again.
struct BlockContent {
  struct Place {
    uint32_t offset;  // of the record, from the start of the block
    uint32_t rank;    // records before it in the block
    // What its header says, so that records of which nothing else is asked are not touched again.
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
  bool expanded = false;          // came out of a COMPRESSED record
  uint64_t types = ~uint64_t{0};  // bit min(type, 63) is set if such a record may be in it
  uint32_t stream = 0;            // 0: the main file; n + 1: data.n of a directory
  /// Data that belongs to the block's last record but lies behind it (AUXTRACE: the AUX data).
  Bytes trailing;
  std::optional<BlockContent> content = std::nullopt;  // nobody looked
  bool samples_taken = false;                          // a SampleTap has seen them

  /// Whether a record of that type may be in the block: lets a pass over sideband skip the rest.
  [[nodiscard]] bool may_hold(uint32_t type) const {
    return ((types >> (type < 63 ? type : 63)) & 1) != 0;
  }
};

/// Types that simpleperf keeps for itself.
[[nodiscard]] inline bool is_simpleperf_private(uint32_t type) {
  constexpr uint32_t kRoom = 1024;
  return type - abi::kRecordSimpleperfStart < kRoom;
}

/// Holds other records, compressed.
[[nodiscard]] inline bool is_compressed_record(uint32_t type) {
  return type == abi::kRecordCompressed || type == abi::kRecordCompressed2;
}

/// The size that a header states. simpleperf's private records may exceed 64 KiB: their upper half
/// lies where others have `misc`.
[[nodiscard]] inline uint32_t stated_record_size(uint32_t type, uint16_t misc, uint16_t size) {
  if (!is_simpleperf_private(type)) [[likely]]
    return size;
  return (uint32_t{misc} << 16) | size;
}

/// Asks for the memory a few records behind `at`. A walk over headers alone waits for memory at
/// each of them, as the next one's place is in the one before; with this it is four times faster.
inline void prefetch_records(const std::byte* at) {
  constexpr uintptr_t kAhead = 512, kLine = 64, kLines = 4;
  auto ahead = reinterpret_cast<uintptr_t>(at) + kAhead;  // may be beyond the end: it is but a hint
  for (uintptr_t line = 0; line < kLines; ++line)
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + line * kLine));
}

/// A record that whoever cut the block saw there.
[[nodiscard]] inline RecordView record_at(const RecordBlock& block,
                                          const BlockContent::Place& place, ByteOrder order) {
  constexpr size_t kHeader = sizeof(abi::RecordHeader);
  return {place.type, place.misc, block.bytes.subspan(place.offset + kHeader, place.size - kHeader),
          block.expanded ? block.file_offset : block.file_offset + place.offset, order};
}

/// Iterates the records of a block, from the first or from one that begins at `from`. After the
/// loop `stopped_at()` is the block's size, or where the bytes ceased to be records.
class RecordRange {
 public:
  RecordRange(const RecordBlock& block, ByteOrder order, size_t from = 0)
      : bytes_(block.bytes),
        file_offset_(block.file_offset),
        position_(from),
        expanded_(block.expanded),
        order_(order) {}

  /// False at the end or where no further record can be read.
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

/// The record that begins at `offset` of a block: where a walk over it has been.
[[nodiscard]] inline RecordView record_at(const RecordBlock& block, size_t offset,
                                          ByteOrder order) {
  RecordView record;
  RecordRange(block, order, offset).next(record);
  return record;
}

}  // namespace sonde
