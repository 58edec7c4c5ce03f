#include "perfdata/read/block_splitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "perfdata/records/damage.h"

namespace sonde {
namespace {

constexpr size_t kBlockSize = size_t{1} << 20;
constexpr size_t kHeaderSize = sizeof(abi::RecordHeader);

bool is_known(uint32_t type) {
  return is_simpleperf_private(type) || !abi::record_type_name(type).empty();
}

}  // namespace

void add_unknown_records(const RecordCounts& counts, LossLedger& losses) {
  for (uint32_t type = 0; type < counts.by_type.size(); ++type)
    if (counts.by_type[type] != 0 && abi::record_type_name(type).empty())
      losses.add(LossKind::k_unknown_record, counts.by_type[type], fmt::format("type {}", type));
  losses.add(LossKind::k_unknown_record, counts.beyond);
  losses.add(LossKind::k_private_record, counts.simpleperf_private);
}

void add_stream_end(const StreamEnd& end, const StreamExpander& expander, ByteOrder order,
                    LossLedger& losses) {
  uint64_t unread = end.rest.size() + end.missing;
  losses.add_bytes({.promised = end.consumed + unread, .unread = unread, .records = end.consumed});
  if (unread > 0) {
    std::string place = end_text(end.rest, end.file_offset, order);
    bool is_garbage = end.stop == BlockSplitter::Stop::kNotARecord || end.is_complete;
    losses.add(is_garbage ? LossKind::k_trailing_garbage : LossKind::k_truncated_file,
               end.rest.size(), place);
    losses.add(LossKind::k_truncated_file, end.missing, place);
  }
  if (size_t left = expander.left(); left > 0) {
    losses.add(LossKind::k_bad_compressed, 1, "the last record is cut off");
    losses.add_bytes({.records = left, .damaged = left});
  }
}

inline void BlockSplitter::count(uint32_t type) {
  if (type < counts_.by_type.size()) [[likely]]
    ++counts_.by_type[type];
  else if (is_simpleperf_private(type))
    ++counts_.simpleperf_private;
  else
    ++counts_.beyond;
}

/// One call of `split`: where the current block begins and what is in it so far.
struct BlockSplitter::Walk {
  RecordBlock pattern;  // offset of the whole, stream, expanded
  Bytes bytes;
  std::vector<RecordBlock>& blocks;
  size_t start = 0;
  uint64_t types = 0;
  BlockContent content = {};

  void add(uint32_t type, uint16_t misc, uint32_t size, size_t position) {
    types |= uint64_t{1} << (type < 63 ? type : 63);
    content.count(type, misc, size, position - start);
  }
  void add_samples(size_t count) {
    types |= uint64_t{1} << abi::kRecordSample;
    content.records += static_cast<uint32_t>(count);
  }
  void end_block(size_t end, Bytes trailing = {}) {
    if (end > start) {
      RecordBlock block = pattern;
      block.bytes = bytes.subspan(start, end - start);
      if (!block.expanded) block.file_offset += start;
      block.types = types;
      block.trailing = trailing;
      // Notes about tiny records would take more memory than the records: they are read again.
      if (content.others.size() * sizeof(BlockContent::Place) <= end - start) {
        content.others.shrink_to_fit();
        block.content = std::move(content);
      }
      blocks.push_back(std::move(block));
    }
    start = end + trailing.size();
    types = 0;
    content = {};
  }
};

namespace {

RecordView view_at(const std::byte* at, uint32_t type, uint16_t misc, uint32_t size,
                   uint64_t file_offset, ByteOrder order) {
  return {type, misc, {at + kHeaderSize, size - kHeaderSize}, file_offset, order};
}

}  // namespace

BlockSplitter::Outcome BlockSplitter::split(Bytes bytes, uint64_t file_offset, uint32_t stream,
                                            StreamExpander& expander,
                                            std::vector<RecordBlock>& blocks,
                                            const CutOptions& options) {
  Walk walk{{.bytes = {},
             .file_offset = file_offset,
             .stream = stream,
             .trailing = {},
             .samples_taken = options.observer != nullptr},
            bytes,
            blocks};
  size_t position = 0;
  Stop stop = Stop::kEnd;
  while (size_t left = bytes.size() - position) {
    const std::byte* at = bytes.data() + position;
    if (!options.in_cache) prefetch_records(at);
    stop = Stop::kIncomplete;
    if (left < kHeaderSize) break;
    auto type = load<uint32_t>(at, order_);
    auto misc = load<uint16_t>(at + 4, order_);
    uint32_t size = stated_record_size(type, misc, load<uint16_t>(at + 6, order_));
    if (size < kHeaderSize) {
      stop = Stop::kNotARecord;
      break;
    }
    if (size > left) {
      if (!is_known(type)) stop = Stop::kNotARecord;
      break;
    }
    Bytes trailing;
    if (type == abi::kRecordSample && options.observer != nullptr) {
      SampleObserver::Taken taken = options.observer->take(
          options.observer_part, bytes.subspan(position, std::min(left, kBlockSize)),
          file_offset + position, order_);
      counts_.by_type[abi::kRecordSample] += taken.samples;
      walk.add_samples(taken.samples);
      position += taken.bytes;
      stop = Stop::kEnd;
      if (position - walk.start >= kBlockSize) walk.end_block(position);
      continue;
    }
    if (type >= abi::kRecordUserStart) [[unlikely]] {
      if (options.only_plain && type != abi::kRecordFinishedRound) {
        stop = Stop::kNotPlain;
        break;
      }
      RecordView record = view_at(at, type, misc, size, file_offset + position, order_);
      uint64_t trailing_size = setup_->trailing_size(record);
      if (trailing_size > left - size) break;
      trailing = bytes.subspan(position + size, trailing_size);
      setup_->apply(record, trailing);
      if (is_compressed_record(type)) {
        count(type);
        walk.add(type, misc, size, position);
        position += size;
        walk.end_block(position);
        expand(record, stream, expander, blocks);
        stop = Stop::kEnd;
        continue;
      }
    }
    count(type);
    walk.add(type, misc, size, position);
    position += size;
    stop = Stop::kEnd;
    if (position - walk.start >= kBlockSize || !trailing.empty()) {
      walk.end_block(position, trailing);
      position += trailing.size();
    }
  }
  walk.end_block(position);
  return {position, stop};
}

void BlockSplitter::expand(const RecordView& record, uint32_t stream, StreamExpander& expander,
                           std::vector<RecordBlock>& blocks) {
  auto expanded = expander.expand(compressed_payload(record));
  if (!expanded) {
    losses_->add(LossKind::k_bad_compressed, 1,
                 damage_text(record.type, record.file_offset, expanded.error().message));
    losses_->add_bytes({.unread = record.size()});
    return;
  }
  Walk walk{{.bytes = {},
             .file_offset = record.file_offset,
             .expanded = true,
             .stream = stream,
             .trailing = {}},
            *expanded,
            blocks};
  size_t position = 0;
  while (expanded->size() - position >= kHeaderSize) {
    const std::byte* at = expanded->data() + position;
    auto type = load<uint32_t>(at, order_);
    auto misc = load<uint16_t>(at + 4, order_);
    uint32_t size = stated_record_size(type, misc, load<uint16_t>(at + 6, order_));
    if (size < kHeaderSize) {
      size_t unread = expanded->size() - position;
      losses_->add(LossKind::k_bad_record, 1,
                   end_text(expanded->subspan(position), record.file_offset, order_));
      losses_->add_bytes({.records = unread, .damaged = unread});
      walk.end_block(position);
      expander.consume(expanded->size());
      return;
    }
    if (size > expanded->size() - position) break;
    count(type);
    walk.add(type, misc, size, position);
    if (type >= abi::kRecordUserStart)
      setup_->apply(view_at(at, type, misc, size, record.file_offset, order_), {});
    position += size;
    if (position - walk.start >= kBlockSize) walk.end_block(position);
  }
  walk.end_block(position);
  losses_->add_bytes({.records = position});
  expander.consume(position);
}

}  // namespace sonde
