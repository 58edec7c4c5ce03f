#include "replay/passes/round_pipeline.h"

#include "replay/passes/sideband_pass.h"

namespace sonde {
namespace {

constexpr size_t kBatchBytes = size_t{8} << 20;
constexpr size_t kBlockBytes = size_t{256} << 10;

}  // namespace

RoundPipeline::RoundPipeline(StreamReader& stream, Give give, LossLedger& losses)
    : stream_(stream),
      give_(std::move(give)),
      sorter_([this](std::span<const TimedRecord> records) { append(records); }, losses) {}

Result<> RoundPipeline::run(const std::function<bool()>& on_pause) {
  stream_.on_pause([&] {
    outcome_ = give();
    return outcome_.value_or(false) && on_pause();
  });
  while (true) {
    std::span<const RecordBlock> blocks = TRY(stream_.next());
    if (blocks.empty()) break;
    bool in_file_order = file_order_is_time(stream_.events());
    for (const RecordBlock& block : blocks) take(block, in_file_order);
    releases_.push_back({stream_.mark(), rounds_});
    if (batch_bytes_ >= kBatchBytes && !TRY(give())) return {};
    release();
  }
  if (!TRY(std::move(outcome_))) return {};
  sorter_.flush();
  TRY(give());
  return {};
}

void RoundPipeline::take(const RecordBlock& block, bool in_file_order) {
  RecordRange range(block, stream_.byte_order());
  for (RecordView record; range.next(record);) {
    if (is_compressed_record(record.type)) continue;  // its content comes next
    if (in_file_order) {
      TimedRecord timed{0, {}, record};
      append({&timed, 1});
      continue;
    }
    sorter_.push(with_time(record, stream_.events()));
    if (record.type != abi::kRecordFinishedRound) continue;
    sorter_.finish_round();
    ++rounds_;
  }
}

void RoundPipeline::append(std::span<const TimedRecord> records) {
  for (const TimedRecord& timed : records) {
    Bytes raw = timed.record.raw();
    if (bytes_.empty() || bytes_.back().capacity() - bytes_.back().size() < raw.size()) {
      bytes_.emplace_back().reserve(std::max(kBlockBytes, raw.size()));
      RecordBlock& block = blocks_.emplace_back();
      block.file_offset = timed.record.file_offset;
      block.expanded = true;
    }
    bytes_.back().insert(bytes_.back().end(), raw.begin(), raw.end());
    batch_bytes_ += raw.size();
  }
}

/// Everything that came before the end of round N has been given when round N + 1 is over.
void RoundPipeline::release() {
  while (!releases_.empty() && releases_.front().rounds + 2 <= rounds_) {
    stream_.release_before(releases_.front().mark);
    releases_.pop_front();
  }
}

Result<bool> RoundPipeline::give() {
  if (bytes_.empty()) return true;
  for (size_t i = 0; i < blocks_.size(); ++i) blocks_[i].bytes = bytes_[i];
  Result<bool> given = give_(blocks_);
  bytes_.clear();
  blocks_.clear();
  batch_bytes_ = 0;
  return given;
}

}  // namespace sonde
